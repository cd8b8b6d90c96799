#include "runtime/precision/device/device_network.h"

#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/precision/device/device_place.h"
#include "runtime/precision/device/step_times.h"
#include "runtime/precision/device/watch_device.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/graph_wiring.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/watch.h"

namespace clvet {

DeviceNetwork::DeviceNetwork(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                             const DiagnoseOptions& options, DevicePlace& place)
    : graph_(graph),
      inputs_(inputs),
      target_(options.target),
      place_(place),
      emulation_(graph, {options.format, options.policy == Policy::kEngine}),
      wiring_(wiring_of(graph)),
      nothing_(graph.nodes.size(), false),
      everything_(graph.nodes.size(), true) {}

Result<DiagnosedModel::Look> DeviceNetwork::look(size_t input) {
  CLVET_ASSIGN_OR_RETURN(Session * session, place_.session(nothing_));
  CLVET_ASSIGN_OR_RETURN(Watched watched, watch_device(emulation_, *session, values(input)));
  DiagnosedInput row = judged(inputs_[input].name, watched.low, watched.reference, target_);
  row.ranges = ranges_of(graph_, watched.seen.inputs);
  references_.push_back(std::move(watched.reference));
  return Look{std::move(row), std::move(watched.seen)};
}

Result<DiagnosedInput> DeviceNetwork::judge(Session& session, size_t input) const {
  CLVET_ASSIGN_OR_RETURN(const auto outputs, session.run(values(input)));
  return judged(inputs_[input].name, outputs, references_[input], target_);
}

Result<DiagnosedInput> DeviceNetwork::with(const Raised& raised, size_t input, Detail) {
  CLVET_ASSIGN_OR_RETURN(Session * session, place_.session(raised));
  return judge(*session, input);
}

double DeviceNetwork::cost(const Raised& raised, std::span<const DiagnosedNode>) {
  if (!timed_) time_steps();
  const auto plan = place_.plan(raised);
  if (!plan) return std::numeric_limits<double>::infinity();
  const double ms = times_.predict(*plan);
  return ms > 0 ? ms : plan->ms();
}

PlanTimes DeviceNetwork::times(const Raised& raised, std::span<const DiagnosedNode> nodes) {
  return {cost(nothing_, nodes), cost(raised, nodes), cost(everything_, nodes)};
}

// Nothing raised, everything, and every second node, which has casts at its borders. Where one
// cannot be timed, the report's predictions serve.
void DeviceNetwork::time_steps() {
  timed_ = true;
  Raised mixed = nothing_;
  for (size_t n = 0; n < mixed.size(); n += 2) mixed[n] = true;
  for (const Raised& raised : {nothing_, everything_, mixed}) {
    const auto session = place_.session(raised);
    const bool on_processor = is_processor(place_.device());
    if (!session || !times_.measure(**session, values(0), on_processor)) {
      times_ = StepTimes();
      return;
    }
  }
}

Result<double> DeviceNetwork::measured_ms(Session& session) const {
  return StepTimes().measure(session, values(0), is_processor(place_.device()));
}

Result<PlanTimes> DeviceNetwork::measured(const Raised& raised) {
  const auto ms_of = [this](const Raised& which) -> Result<double> {
    CLVET_ASSIGN_OR_RETURN(Session * session, place_.session(which));
    return measured_ms(*session);
  };
  PlanTimes found;
  CLVET_ASSIGN_OR_RETURN(found.low, ms_of(nothing_));
  CLVET_ASSIGN_OR_RETURN(found.raised, ms_of(raised));
  CLVET_ASSIGN_OR_RETURN(found.high, ms_of(everything_));
  return found;
}

}  // namespace clvet
