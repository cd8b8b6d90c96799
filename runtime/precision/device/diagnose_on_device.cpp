#include "runtime/precision/device/diagnose_on_device.h"
#include "runtime/graph/passes.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/plan.h"
#include "runtime/precision/device/broken_kernels.h"
#include "runtime/precision/device/device_network.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/other_ways.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/rounding.h"

namespace clvet {
namespace {

Raised raised_by(const std::optional<PrecisionPlan>& plan, const Graph& graph) {
  Raised raised(graph.nodes.size(), false);
  for (size_t n = 0; plan && n < raised.size(); ++n)
    raised[n] = std::ranges::find(plan->raised, graph.nodes[n].name) != plan->raised.end();
  return raised;
}

RaisedEvidence evidence_of(const PrecisionDiagnosis& found) {
  const PrecisionPlan& plan = *found.plan;
  const PlanTimes& times = *found.measured;
  const int held_out = static_cast<int>(found.inputs.size()) - plan.chosen_on;
  return {plan.raised, found.target, plan.chosen_on, held_out, times.low, times.raised, times.high};
}

// The times of what was found, and the plan that may be saved.
Status finish(DeviceNetwork& network, const Graph& graph, Policy policy,
              DeviceDiagnosis& diagnosis) {
  PrecisionDiagnosis& found = diagnosis.found;
  if (found.plan) {
    CLVET_ASSIGN_OR_RETURN(found.other_ways, try_other_ways(network, found));
    if (!found.plan->right) return {};
  }
  const Raised raised = raised_by(found.plan, graph);
  CLVET_ASSIGN_OR_RETURN(found.measured, network.measured(raised));
  if (found.plan) found.plan->predicted = network.times(raised, found.nodes);
  if (policy != Policy::kEngine) return {};
  CLVET_ASSIGN_OR_RETURN(Session * usual, network.place().session(PlanOverrides()));
  CLVET_ASSIGN_OR_RETURN(const double usual_ms, network.measured_ms(*usual));
  diagnosis.faster = is_clearly_less(found.measured->raised, usual_ms);
  CLVET_ASSIGN_OR_RETURN(diagnosis.plan, network.place().plan(raised));
  if (found.plan) diagnosis.plan->raised = evidence_of(found);
  return {};
}

}  // namespace

Result<DeviceDiagnosis> diagnose_on_device(const Graph& graph,
                                           const std::vector<CalibrationInput>& inputs,
                                           const DiagnoseOptions& options,
                                           const DeviceTarget& target) {
  CLVET_ASSIGN_OR_RETURN(Graph prepared, prepare_for_diagnosis(graph, inputs, options.policy));
  if (options.policy == Policy::kEngine) CLVET_RETURN_IF_ERROR(expand_composites(prepared));
  CLVET_ASSIGN_OR_RETURN(const auto place, DevicePlace::open(prepared, options.policy, target));
  DeviceNetwork network(prepared, inputs, options, *place);
  CLVET_ASSIGN_OR_RETURN(auto broken, avoid_broken_kernels(network, inputs.front()));
  DeviceDiagnosis diagnosis{.opened = place->opened()};
  CLVET_ASSIGN_OR_RETURN(diagnosis.found, diagnose_model(network, options));
  diagnosis.found.place = place->device().name;
  diagnosis.found.broken = std::move(broken);
  if (diagnosis.found.plan)
    CLVET_RETURN_IF_ERROR(advise(graph, prepared, options, *diagnosis.found.plan));
  if (diagnosis.found.stopped) return diagnosis;
  if (const Status done = finish(network, prepared, options.policy, diagnosis); !done)
    diagnosis.found.stopped = done.error();
  return diagnosis;
}

}  // namespace clvet
