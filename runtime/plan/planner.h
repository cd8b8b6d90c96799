// Graph + report -> plan. Pure: the same inputs give the same plan, on any machine.
#pragma once

#include <string>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {

// The plan for one combination. Every shape of the graph must be known (specialise it first). Nodes
// that no trusted variant can run go to the host, with the reason.
Result<ExecutionPlan> plan_for(const Graph& graph, const VariantChooser& chooser,
                               const Combination& combination);

// Everything on the host.
ExecutionPlan plan_on_host(const Graph& graph, const std::string& reason);

// The combination with the least estimated time among those that `overrides` leaves open. A lower
// precision is taken by itself only where it saves a third of the time. kUnavailable: no node of
// the model can run on the device in any of them.
Result<ExecutionPlan> plan_model(const Graph& graph, const VariantChooser& chooser,
                                 const PlanOverrides& overrides);

}  // namespace clvet
