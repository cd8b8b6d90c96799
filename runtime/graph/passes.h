// Rewrites of a graph that keep its results (up to rounding). Each may be run alone, on a graph
// whose constants are folded (runtime/infer/infer.h).
#pragma once

#include <optional>

#include "base/result.h"
#include "runtime/graph/graph.h"

namespace clvet {

// Identity, and Dropout without a mask.
void remove_identities(Graph& graph);
// x * clip(x + b, 0, c) / c and its relatives, HardSigmoid(x) * x, Sigmoid(x) * x.
void recognise_gates(Graph& graph);
// LayerNormalization over one axis, by deviations or by moments, with constant parameters.
void recognise_norms(Graph& graph);
// x * (1 + erf(x / sqrt(2))) / 2 and its tanh form, in whatever order they are multiplied.
void recognise_gelus(Graph& graph);
// Where(IsNaN(x), number, x), as torch puts it behind each softmax that has a mask: one step.
void recognise_numbers(Graph& graph);
// MatMul of Cast(Equal(places, 0..n-1)) by a constant matrix: Gather of its rows. A place beyond
// them has the row that such a product has: zeros, or the bias.
void gather_one_hot(Graph& graph);
// BatchNormalization, and Add, Sub, Mul, Div by one constant a channel, into the Conv or
// ConvTranspose before them. All in float64, rounded to float32 once for the whole chain: variances
// beyond half's range occur in real models, the folded weights do not.
void fold_channel_affine(Graph& graph);
// Add, Sub, Mul, Div by one constant into the Conv after them, where nobody else reads the value;
// what shifts, into a Conv without padding alone.
void fold_input_affine(Graph& graph);
// MatMul by constant weights and the Add of a constant row after it: MatMul's third input.
void fuse_bias(Graph& graph);
// An activation, or an affine map by single constants, into the Conv, MatMul, Gemm,
// BatchNormalization, reduction or binary op before it: a sum of squares beyond half's range that
// is then scaled never lies in memory.
void fuse_activations(Graph& graph);

// Folds constants, then all of the above, then removes what is dead. Activations are fused, and
// norms found, where the inputs' shapes are known: of a graph with open ones optimise it, then what
// specialise() makes of it.
Status optimise(Graph& graph);

// For a graph that a device is to run: sums of integers (ConvInteger, MatMulInteger) that only
// become floats again are floats from the start, and so is what is added to them. What scales them
// is computed at precision high. kResourceExhausted: there is no memory for a constant.
Status carry_sums(Graph& graph);
// The same of quantised numbers, once expand_composites() has made levels of them: they stay floats
// where they are only moved, and a level that becomes a number at once is one node.
void carry_levels(Graph& graph);

// Squeeze and excite, for a graph that a device is to run: x times what two 1 x 1 convolutions make
// of the means of its channels is one node, which has a kernel. Not in a graph with levels.
void gather_squeezes(Graph& graph);
// The same of a convolution by single pixels, and the sum of its output with a tensor of its shape.
void gather_sums(Graph& graph);
// The same of a depthwise convolution and the convolution by single pixels, or the node that
// gather_sums() made of one, that alone reads it.
void gather_pairs(Graph& graph);
// The same of two convolutions of one input, the first of them by single pixels, and the Concat of
// their channels.
void gather_branches(Graph& graph);

// Says of nodes whose constant weights are levels of 8 bits that they are, where the graph has any
// (Node::has_level_weights, Graph::has_levels). Of a graph whose nodes stay as they are.
void find_level_weights(Graph& graph);

// Nodes that have no kernel as the steps of OpDef::expand, for a graph that a device is to run and
// that is optimised and has all its shapes. A node whose steps would need the host for floats stays
// whole: the host computes it faster than its steps. The weights of what there is then are looked
// at by find_level_weights().
Status expand_composites(Graph& graph);

// The activation that a node is, where it is one: Relu, Clip by constants, Sigmoid... (not
// kAffine).
std::optional<Activation> activation_of(const Graph& graph, const Node& node);

}  // namespace clvet
