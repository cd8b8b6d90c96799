// A depthwise convolution and the convolution by single pixels behind it, as in the blocks of small
// networks.
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

// Constant filters [C, 1, KH, KW] of images of C > 1 channels.
bool is_depthwise(const Graph& graph, const Node& conv) {
  const Tensor* w = graph.constant(conv.inputs[1]);
  const auto& from = graph.values[conv.inputs[0]].shape;
  if (!w || w->rank() != 4 || w->dtype() != DType::kF32 || !from || from->size() != 4) return false;
  const int64_t channels = (*from)[1];
  return channels > 1 && conv.int_attr("group", 1) == channels && w->shape()[0] == channels &&
         bias_fits(graph, conv, channels);
}

// Whether each output pixel is made of the input's pixel at its place alone.
bool is_pixel_conv(const Graph& graph, const Node& node) {
  if (node.op == kConvAdd && node.domain == kStepsDomain) return true;
  if (node.op != "Conv" || !node.domain.empty() || node.is_step) return false;
  const Tensor* w = pixel_filters(graph, node);
  const auto& from = graph.values[node.inputs[0]].shape;
  const auto& to = graph.values[node.outputs[0]].shape;
  return w && from && to && graph.values[node.outputs[0]].dtype == DType::kF32 &&
         *to == Shape{(*from)[0], w->shape()[0], (*from)[2], (*from)[3]};
}

void rewrite(Graph& graph, const Links& links, Node& node) {
  const Node* conv = only_for_one(graph, links, node.inputs[0], {"Conv"});
  if (!conv || !is_depthwise(graph, *conv)) return;
  Attributes attributes = conv->attributes;
  attributes.insert_or_assign("middle_act", static_cast<int64_t>(conv->activation.act));
  attributes.insert_or_assign("middle_act_lo", conv->activation.lo);
  attributes.insert_or_assign("middle_act_hi", conv->activation.hi);
  std::vector<ValueId> inputs = {conv->inputs[0], conv->inputs[1],   input_of(*conv, 2),
                                 node.inputs[1],  input_of(node, 2), input_of(node, 3)};
  become_step(node, kDepthwisePair, std::move(inputs), std::move(attributes));
}

}  // namespace

void gather_pairs(Graph& graph) {
  if (graph.has_levels) return;
  const Links links(graph);
  for (Node& node : graph.nodes) {
    if (is_pixel_conv(graph, node)) rewrite(graph, links, node);
  }
  remove_dead_code(graph);
}

}  // namespace clvet
