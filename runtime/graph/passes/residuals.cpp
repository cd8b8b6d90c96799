// A convolution by single pixels and the sum behind it, as in the residual blocks of networks.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

bool all_are(const Node& node, const char* name, int64_t wanted) {
  const std::vector<int64_t>* values = node.ints_attr(name);
  return !values || std::ranges::all_of(*values, [&](int64_t value) { return value == wanted; });
}

// Whether each output pixel, of more than one, is made of the input's pixel at its place alone.
bool is_pointwise(const Graph& graph, const Node& conv) {
  const Tensor* w = graph.constant(conv.inputs[1]);
  const auto& from = graph.values[conv.inputs[0]].shape;
  const auto& to = graph.values[conv.outputs[0]].shape;
  if (!w || w->rank() != 4 || w->dtype() != DType::kF32 || !from || !to) return false;
  const Shape& x = *from;
  return x.size() == 4 && *to == Shape{x[0], w->shape()[0], x[2], x[3]} && w->shape()[1] == x[1] &&
         w->shape()[2] == 1 && w->shape()[3] == 1 && x[0] * x[2] * x[3] > 1 &&
         all_are(conv, "pads", 0) && all_are(conv, "strides", 1) &&
         bias_fits(graph, conv, w->shape()[0]);
}

bool rewrite(Graph& graph, const Links& links, Node& add, size_t side) {
  const ValueId product = add.inputs[side], other = add.inputs[1 - side];
  const Node* conv = maker(graph, links, product, "Conv");
  if (!conv || conv->is_step || only_consumer(graph, links, product) < 0) return false;
  const auto& shape = graph.values[add.outputs[0]].shape;
  if (!shape || graph.constant(other) || graph.values[product].shape != shape ||
      graph.values[other].shape != shape || !is_pointwise(graph, *conv))
    return false;
  const ValueId bias = conv->inputs.size() > 2 ? conv->inputs[2] : kNoValue;
  become_step(add, kConvAdd, {conv->inputs[0], conv->inputs[1], bias, other}, {});
  return true;
}

}  // namespace

void gather_sums(Graph& graph) {
  if (graph.has_levels) return;
  const Links links(graph);
  for (Node& node : graph.nodes) {
    if (node.op != "Add" || !node.domain.empty() || node.is_step || node.inputs.size() != 2 ||
        graph.values[node.outputs[0]].dtype != DType::kF32)
      continue;
    if (!rewrite(graph, links, node, 0)) rewrite(graph, links, node, 1);
  }
  remove_dead_code(graph);
}

}  // namespace clvet
