// Two convolutions of one input whose outputs are joined, one of them by single pixels, as in the
// fire modules of SqueezeNet.
#include <cstdint>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

using Strides = std::vector<int64_t>;

Strides strides_of(const Node& conv) {
  const Strides* strides = conv.ints_attr("strides");
  return strides ? *strides : Strides{1, 1};
}

// The convolution in one group, by constant filters, that makes `value` for one reader alone.
const Node* branch_of(const Graph& graph, const Links& links, ValueId value) {
  const Node* conv = only_for_one(graph, links, value, {"Conv"});
  if (!conv || conv->int_attr("group", 1) != 1) return nullptr;
  const Tensor* w = graph.constant(conv->inputs[1]);
  const auto& shape = graph.values[value].shape;
  const bool fits = w && w->rank() == 4 && w->dtype() == DType::kF32 && shape &&
                    shape->size() == 4 && bias_fits(graph, *conv, w->shape()[0]);
  return fits ? conv : nullptr;
}

bool joins_channels(const Graph& graph, const Node& node) {
  constexpr int64_t kChannels = 1, kFromTheEnd = -3;
  const int64_t axis = node.int_attr("axis", kChannels);
  return node.op == "Concat" && node.domain.empty() && node.inputs.size() == 2 &&
         node.activation.act == Act::kNone && (axis == kChannels || axis == kFromTheEnd) &&
         graph.values[node.outputs[0]].dtype == DType::kF32;
}

// The same places of the same input, under the same activation.
bool are_alike(const Node& a, const Node& b) {
  return a.inputs[0] == b.inputs[0] && strides_of(a) == strides_of(b) &&
         a.activation == b.activation;
}

void rewrite(Graph& graph, const Links& links, Node& node) {
  const Node* pixels = branch_of(graph, links, node.inputs[0]);
  const Node* window = branch_of(graph, links, node.inputs[1]);
  if (!pixels || !window || !pixel_filters(graph, *pixels) || !are_alike(*pixels, *window)) return;
  const Shape& filters = graph.constant(window->inputs[1])->shape();
  if (filters[2] * filters[3] == 1) return;
  node.activation = window->activation;
  become_step(node, kConvBranches,
              {pixels->inputs[0], pixels->inputs[1], input_of(*pixels, 2), window->inputs[1],
               input_of(*window, 2)},
              window->attributes);
}

}  // namespace

void gather_branches(Graph& graph) {
  if (graph.has_levels) return;
  const Links links(graph);
  for (Node& node : graph.nodes) {
    if (joins_channels(graph, node)) rewrite(graph, links, node);
  }
  remove_dead_code(graph);
}

}  // namespace clvet
