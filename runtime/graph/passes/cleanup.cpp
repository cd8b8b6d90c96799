#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"

namespace clvet {
namespace {

bool passes_through(const Node& node) {
  if (node.activation.act != Act::kNone || !node.def || !node.domain.empty()) return false;
  if (node.op == "Identity") return true;
  return node.op == "Dropout" && (node.outputs.size() < 2 || node.outputs[1] == kNoValue) &&
         node.inputs.size() < 3;
}

bool is_input(const Graph& graph, ValueId id) {
  return std::find(graph.inputs.begin(), graph.inputs.end(), id) != graph.inputs.end();
}

// Lets the node that makes `from` make `to` in its place, so that an output keeps its name.
void hand_over(Graph& graph, int producer, ValueId from, ValueId to) {
  std::vector<ValueId>& outputs = graph.nodes[producer].outputs;
  std::replace(outputs.begin(), outputs.end(), from, to);
  for (Node& node : graph.nodes) std::replace(node.inputs.begin(), node.inputs.end(), from, to);
}

bool knows_inputs(const Graph& graph) {
  return std::all_of(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
    return graph.values[id].type() && checked_elements(*graph.values[id].shape);
  });
}

}  // namespace

void remove_identities(Graph& graph) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    if (!passes_through(graph.nodes[n])) continue;
    const ValueId from = graph.nodes[n].inputs[0], to = graph.nodes[n].outputs[0];
    if (!graph.is_output(to)) {
      replace_uses(graph, to, from);
    } else {
      const int producer = Links(graph).producer[from];
      if (producer < 0 || graph.is_output(from) || is_input(graph, from)) continue;
      graph.nodes[n].outputs.clear();
      hand_over(graph, producer, from, to);
      graph.nodes[n].inputs.clear();
    }
  }
  remove_dead_code(graph);
}

Status optimise(Graph& graph) {
  CLVET_RETURN_IF_ERROR(infer_and_fold(graph));
  remove_identities(graph);
  fold_channel_affine(graph);
  recognise_gates(graph);
  recognise_norms(graph);
  recognise_gelus(graph);
  recognise_numbers(graph);
  fold_channel_affine(graph);
  fold_input_affine(graph);
  fuse_bias(graph);
  gather_one_hot(graph);
  // What norms and the like are made of stays apart until shapes tell whether they are.
  if (knows_inputs(graph)) fuse_activations(graph);
  remove_dead_code(graph);
  return sort_topologically(graph);
}

}  // namespace clvet
