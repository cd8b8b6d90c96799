// Weights that a quantised network has as levels of 8 bits stay so in device memory. By now they
// are the numbers that the levels stand for, whatever operators made those.
#include <algorithm>
#include <optional>

#include "kernels/contract.h"
#include "kernels/weight_levels.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"

namespace clvet {
namespace {

// Whether the call has weights, and all of them are levels.
bool are_levels(const OpCall& call, const LoweredCall& lowered) {
  const auto constant = std::ranges::find(lowered.constants, "w", &LoweredConstant::role);
  const OpContract* contract = find_op_contract(lowered.op);
  if (!contract || constant == lowered.constants.end()) return false;
  const auto roles = contract->roles(lowered.dims);
  if (!roles) return false;
  const auto weights = std::ranges::find(*roles, TensorKind::kWeights, &TensorRole::kind);
  return weights != roles->end() &&
         levels_of(call.node.def->constant(call, *constant), weights->cout).has_value();
}

}  // namespace

void find_level_weights(Graph& graph) {
  if (!graph.has_levels) return;
  for (Node& node : graph.nodes) {
    const auto call = node.def && node.def->constant ? call_of(graph, node) : std::nullopt;
    if (!call) continue;
    const Lowering lowering = lower_node(*call, View::kChannelsFirst);
    node.has_level_weights = lowering.kind == LoweringKind::kKernel &&
                             std::ranges::all_of(lowering.calls, [&](const LoweredCall& lowered) {
                               return are_levels(*call, lowered);
                             });
  }
}

}  // namespace clvet
