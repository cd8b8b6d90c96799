// Per-channel affine nodes into the convolution before them; MatMul's bias.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/normalization.h"

namespace clvet {
namespace {

struct Weights {
  int64_t channels = 0;  // of the output
  int64_t rank = 0;
  bool transposed = false;
};

// nullopt where the node is no convolution by constant float weights that fit each other. Inference
// has not checked them where extents are open.
std::optional<Weights> weights_of(const Graph& graph, const Node& node) {
  const bool transposed = node.op == "ConvTranspose";
  if (!node.domain.empty() || (node.op != "Conv" && !transposed)) return std::nullopt;
  if (node.activation.act != Act::kNone) return std::nullopt;
  const Tensor* w = graph.constant(node.inputs[1]);
  if (!w || w->dtype() != DType::kF32 || w->rank() < 3 || w->elements() == 0) return std::nullopt;
  const int64_t group = node.int_attr("group", 1);
  if (group < 1 || w->dim(0) % group != 0) return std::nullopt;
  const int64_t channels = transposed ? w->dim(1) * group : w->dim(0);
  if (!bias_fits(graph, node, channels)) return std::nullopt;
  return Weights{channels, w->rank(), transposed};
}

// A constant with one value, or one value a channel and extent 1 elsewhere.
std::optional<Values> per_channel(const Graph& graph, ValueId id, const Weights& weights) {
  const Tensor* tensor = graph.constant(id);
  if (!tensor || tensor->dtype() != DType::kF32 || tensor->rank() > weights.rank) {
    return std::nullopt;
  }
  Values values = tensor->to_f64();
  if (values.size() == 1) return Values(static_cast<size_t>(weights.channels), values[0]);
  const int64_t axis = tensor->rank() - weights.rank + 1;
  if (tensor->elements() != weights.channels || axis < 0 || tensor->dim(axis) != weights.channels) {
    return std::nullopt;
  }
  return values;
}

std::optional<ChannelAffine> normalization(const Graph& graph, const Node& node,
                                           const Weights& weights) {
  const auto infer = [&] {
    OpCall call{node, {}};
    for (const ValueId in : node.inputs) call.inputs.push_back({{}, graph.constant(in), true});
    return call;
  };
  for (size_t i = 1; i < 5; ++i) {
    const Tensor* tensor = graph.constant(node.inputs[i]);
    if (!tensor || tensor->shape() != Shape{weights.channels}) return std::nullopt;
  }
  const bool training = node.int_attr("training_mode", 0) || node.int_attr("spatial", 1) == 0;
  if (training || (node.outputs.size() > 1)) return std::nullopt;
  return batch_normalization_affine(infer());
}

struct Line {
  double scale = 1, shift = 0;
};

// x (op) constant where the constant is on the right, else constant (op) x.
std::optional<Line> line_of(std::string_view op, double constant, bool right) {
  if (op == "Mul") return Line{constant, 0};
  if (op == "Add") return Line{1, constant};
  if (op == "Sub") return right ? Line{1, -constant} : Line{-1, constant};
  if (op == "Div" && right && constant != 0) return Line{1 / constant, 0};
  return std::nullopt;
}

// What `node` does to each channel of `value`.
std::optional<ChannelAffine> affine_of(const Graph& graph, const Node& node, ValueId value,
                                       const Weights& weights) {
  if (!node.def || !node.domain.empty() || node.activation.act != Act::kNone) return std::nullopt;
  if (node.op == "BatchNormalization" && node.inputs[0] == value) {
    return normalization(graph, node, weights);
  }
  const int side = constant_side(graph, node);
  if (side < 0 || node.inputs[1 - side] != value) return std::nullopt;
  const auto c = per_channel(graph, node.inputs[side], weights);
  if (!c) return std::nullopt;
  ChannelAffine affine;
  for (const double v : *c) {
    const auto line = line_of(node.op, v, side == 1);
    if (!line) return std::nullopt;
    affine.scale.push_back(line->scale);
    affine.shift.push_back(line->shift);
  }
  return affine;
}

void scale_weights(const Weights& weights, const Shape& shape, const Values& scale, Values& w) {
  const int64_t taps = elements_of(std::span(shape).subspan(2));
  const int64_t per_group = weights.transposed ? shape[1] : 1;
  const int64_t groups = weights.transposed ? weights.channels / shape[1] : 1;
  for (int64_t i = 0; i < static_cast<int64_t>(w.size()); ++i) {
    int64_t channel = i / (taps * shape[1]);
    if (weights.transposed) {
      const int64_t group = channel / std::max<int64_t>(shape[0] / groups, 1);
      channel = group * per_group + i / taps % shape[1];
    }
    w[i] *= scale[channel];
  }
}

void apply(Graph& graph, Node& conv, const Weights& weights, const ChannelAffine& affine) {
  const Tensor& w = *graph.constant(conv.inputs[1]);
  const Shape shape = w.shape();
  Values values = w.to_f64();
  scale_weights(weights, shape, affine.scale, values);
  conv.inputs.resize(3, kNoValue);
  Values bias = affine.shift;
  if (const Tensor* old = graph.constant(conv.inputs[2])) {
    const Values before = old->to_f64();
    for (size_t i = 0; i < bias.size(); ++i) bias[i] += before[i] * affine.scale[i];
  }
  const std::string stem = conv.name + ".folded";
  const ValueId folded_w =
      graph.add_constant(graph.unique_name(stem + "_w"), narrowed(shape, values));
  const ValueId folded_b =
      graph.add_constant(graph.unique_name(stem + "_b"), narrowed({weights.channels}, bias));
  conv.inputs[1] = folded_w;
  conv.inputs[2] = folded_b;
}

void fold_chain(Graph& graph, const Links& links, size_t n) {
  const auto weights = weights_of(graph, graph.nodes[n]);
  if (!weights) return;
  ChannelAffine all{Values(static_cast<size_t>(weights->channels), 1.0),
                    Values(static_cast<size_t>(weights->channels), 0.0)};
  ValueId value = graph.nodes[n].outputs[0];
  bool found = false;
  while (true) {
    const int next = only_consumer(graph, links, value);
    if (next < 0) break;
    const auto affine = affine_of(graph, graph.nodes[next], value, *weights);
    if (!affine) break;
    for (size_t i = 0; i < all.scale.size(); ++i) {
      all.scale[i] *= affine->scale[i];
      all.shift[i] = all.shift[i] * affine->scale[i] + affine->shift[i];
    }
    value = graph.nodes[next].outputs[0];
    graph.nodes[next].outputs.clear();
    graph.nodes[next].inputs.clear();
    found = true;
  }
  if (!found) return;
  apply(graph, graph.nodes[n], *weights, all);
  graph.nodes[n].outputs[0] = value;
}

}  // namespace

void fold_channel_affine(Graph& graph) {
  const Links links(graph);
  for (size_t n = 0; n < graph.nodes.size(); ++n) fold_chain(graph, links, n);
  remove_dead_code(graph);
}

void fuse_bias(Graph& graph) {
  const Links links(graph);
  for (Node& node : graph.nodes) {
    if (node.op != "MatMul" || node.inputs.size() != 2 || node.activation.act != Act::kNone)
      continue;
    const Tensor* w = graph.constant(node.inputs[1]);
    if (!w || w->rank() != 2 || w->dtype() != DType::kF32) continue;
    const int next = only_consumer(graph, links, node.outputs[0]);
    if (next < 0 || graph.nodes[next].op != "Add") continue;
    Node& add = graph.nodes[next];
    const int side = constant_side(graph, add);
    if (side < 0 || add.activation.act != Act::kNone) continue;
    const Tensor* row = graph.constant(add.inputs[side]);
    // Of rank 1, so that it cannot add axes to the product.
    if (row->shape() != Shape{w->dim(1)} || row->dtype() != DType::kF32) continue;
    node.inputs.push_back(add.inputs[side]);
    node.outputs[0] = add.outputs[0];
    add.inputs.clear();
    add.outputs.clear();
  }
  remove_dead_code(graph);
}

}  // namespace clvet
