// What the passes have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// kNoValue where the node has no input `i`.
ValueId input_of(const Node& node, size_t i);
// The one node that reads `value`, if nothing else does and it is no output; else -1.
int only_consumer(const Graph& graph, const Links& links, ValueId value);
// The node of ONNX's own domain, without an activation behind it, that makes `value`; else null.
const Node* maker(const Graph& graph, const Links& links, ValueId value);
// The same, if it is an `op`.
const Node* maker(const Graph& graph, const Links& links, ValueId value, std::string_view op);
// The node that makes `value` for one reader alone, if it is an `op` of ONNX with one output,
// whatever activation is behind it; else null.
const Node* only_for_one(const Graph& graph, const Links& links, ValueId value,
                         std::initializer_list<std::string_view> ops);
// The value of a constant of one element.
std::optional<double> scalar_of(const Graph& graph, ValueId value);
// Whether a convolution has no bias, or a constant one of a float for each channel.
bool bias_fits(const Graph& graph, const Node& conv, int64_t channels);
// The constant filters [M, C, 1, 1] of a convolution in one group, without a border and with a bias
// that fits, if it has such; else null.
const Tensor* pixel_filters(const Graph& graph, const Node& conv);
// For a binary node of ONNX: which input is constant (0 or 1), if exactly one is; else -1.
int constant_side(const Graph& graph, const Node& node);
// Whether the constant on that side of a binary node may have more axes than the other side. Where
// the other's rank is not known, it is taken for 1 or more.
bool adds_axis(const Graph& graph, const Node& node, int side);
// A Mul, Div, Add or Sub by one constant that adds no axis, as kAffine: lo * z + hi.
std::optional<Activation> scalar_affine_of(const Graph& graph, const Node& node);
// A constant's values as a new constant of float32. kResourceExhausted: there is no memory for it.
Result<ValueId> add_as_floats(Graph& graph, ValueId constant);
// The values rounded to float32.
Tensor narrowed(const Shape& shape, const Values& values);
// A node like number `before`, in front of it: `op` of `inputs`, whose one output is new, of the
// type of the first input but for `shape`. That output.
ValueId insert_node(Graph& graph, int before, const char* op, std::vector<ValueId> inputs,
                    Attributes attributes, const Shape& shape);
// Makes `node` another operator of ONNX's own domain.
void become(Node& node, const char* op, std::vector<ValueId> inputs, Attributes attributes);
// The same with an operator of kStepsDomain.
void become_step(Node& node, std::string_view op, std::vector<ValueId> inputs,
                 Attributes attributes);

}  // namespace clvet
