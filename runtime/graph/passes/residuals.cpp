// A convolution by single pixels and the sum behind it, as in the residual blocks of networks.
#include <cstddef>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

// Whether each output pixel, of more than one, is made of the input's pixel at its place alone.
bool is_pointwise(const Graph& graph, const Node& conv) {
  const Tensor* w = pixel_filters(graph, conv);
  const auto& from = graph.values[conv.inputs[0]].shape;
  const auto& to = graph.values[conv.outputs[0]].shape;
  return w && from && to && (*from)[0] * (*from)[2] * (*from)[3] > 1 &&
         *to == Shape{(*from)[0], w->shape()[0], (*from)[2], (*from)[3]};
}

bool rewrite(Graph& graph, const Links& links, Node& add, size_t side) {
  const ValueId product = add.inputs[side], other = add.inputs[1 - side];
  const Node* conv = maker(graph, links, product, "Conv");
  if (!conv || conv->is_step || only_consumer(graph, links, product) < 0) return false;
  const auto& shape = graph.values[add.outputs[0]].shape;
  if (!shape || graph.constant(other) || graph.values[product].shape != shape ||
      graph.values[other].shape != shape || !is_pointwise(graph, *conv))
    return false;
  become_step(add, kConvAdd, {conv->inputs[0], conv->inputs[1], input_of(*conv, 2), other}, {});
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
