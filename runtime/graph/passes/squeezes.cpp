// Squeeze and excite: x times what two 1 x 1 convolutions make of the means of its channels.
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

// The means of the channels of images: [N, C, 1, 1].
bool is_mean(const Graph& graph, const Node& node) {
  const auto& from = graph.values[node.inputs[0]].shape;
  const auto& to = graph.values[node.outputs[0]].shape;
  return node.activation.act == Act::kNone && from && to && from->size() == 4 &&
         *to == Shape{(*from)[0], (*from)[1], 1, 1};
}

// A convolution of one pixel by constant weights.
bool is_layer(const Graph& graph, const Node& node) {
  const auto& to = graph.values[node.outputs[0]].shape;
  return pixel_filters(graph, node) && to && (*to)[2] == 1 && (*to)[3] == 1;
}

void put(Attributes& attributes, const std::string& stem, const Activation& act) {
  attributes.insert_or_assign(stem + "_act", static_cast<int64_t>(act.act));
  attributes.insert_or_assign(stem + "_act_lo", act.lo);
  attributes.insert_or_assign(stem + "_act_hi", act.hi);
}

ValueId bias_of(const Node& conv) { return conv.inputs.size() > 2 ? conv.inputs[2] : kNoValue; }

// Whether `gate` is made of x so; then `mul`, their product, is all of it.
bool rewrite(Graph& graph, const Links& links, Node& mul, ValueId x, ValueId gate) {
  const Node* excite = only_for_one(graph, links, gate, {"Conv"});
  if (!excite || !is_layer(graph, *excite)) return false;
  const Node* squeeze = only_for_one(graph, links, excite->inputs[0], {"Conv"});
  if (!squeeze || !is_layer(graph, *squeeze)) return false;
  const Node* mean =
      only_for_one(graph, links, squeeze->inputs[0], {"GlobalAveragePool", "ReduceMean"});
  if (!mean || mean->inputs[0] != x || !is_mean(graph, *mean)) return false;
  if (graph.values[mul.outputs[0]].shape != graph.values[x].shape) return false;
  Attributes attributes;
  put(attributes, "squeeze", squeeze->activation);
  put(attributes, "gate", excite->activation);
  become_step(mul, kSqueezeExcite,
              {x, squeeze->inputs[1], excite->inputs[1], bias_of(*squeeze), bias_of(*excite)},
              std::move(attributes));
  return true;
}

}  // namespace

void gather_squeezes(Graph& graph) {
  if (graph.has_levels) return;
  const Links links(graph);
  for (Node& node : graph.nodes) {
    if (node.op != "Mul" || !node.domain.empty() || node.is_step || node.inputs.size() != 2)
      continue;
    if (graph.values[node.outputs[0]].dtype != DType::kF32) continue;
    if (!rewrite(graph, links, node, node.inputs[0], node.inputs[1]))
      rewrite(graph, links, node, node.inputs[1], node.inputs[0]);
  }
  remove_dead_code(graph);
}

}  // namespace clvet
