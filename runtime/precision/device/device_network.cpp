#include "runtime/precision/device/device_network.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/plan.h"
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
namespace {

// Of a run up to kShortMs; a longer one has its quiet and its busy moments within.
constexpr int kRounds = 3;
constexpr double kShortMs = 200;

}  // namespace

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
  // Each launch is waited for: what the driver dies of has a name then.
  NodeTimes times;
  CLVET_ASSIGN_OR_RETURN(const auto outputs, session.run(values(input), &times));
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

// Nothing raised, everything, every second node, which has casts at its borders, and the others.
// Where one cannot be timed, the report's predictions serve.
void DeviceNetwork::time_steps() {
  timed_ = true;
  Raised even = nothing_;
  for (size_t n = 0; n < even.size(); n += 2) even[n] = true;
  Raised odd = even;
  odd.flip();
  const bool on_processor = is_processor(place_.device());
  const auto timed = in_rounds({nothing_, everything_, even, odd}, [&](Session& session) {
    return times_.measure(session, values(0), on_processor);
  });
  if (!timed) times_ = StepTimes();
}

// The least of each, in turn: the machine may be busier for a while.
Result<std::vector<double>> DeviceNetwork::in_rounds(
    const std::vector<Raised>& choices, const std::function<Result<double>(Session&)>& measure) {
  std::vector<double> least(choices.size(), std::numeric_limits<double>::infinity());
  double longest = 0;
  for (int round = 0; round < kRounds && longest < kShortMs; ++round) {
    for (size_t i = 0; i < choices.size(); ++i) {
      CLVET_ASSIGN_OR_RETURN(Session * session, place_.session(choices[i]));
      CLVET_ASSIGN_OR_RETURN(const double ms, measure(*session));
      least[i] = std::min(least[i], ms);
      longest = std::max(longest, ms);
    }
  }
  return least;
}

Result<double> DeviceNetwork::measured_ms(Session& session) const {
  return measured_run_ms(session, values(0), is_processor(place_.device()));
}

Result<PlanTimes> DeviceNetwork::measured(const Raised& raised) {
  CLVET_ASSIGN_OR_RETURN(const auto ms,
                         in_rounds({nothing_, raised, everything_},
                                   [this](Session& session) { return measured_ms(session); }));
  for (const auto& [which, index] : {std::pair{&nothing_, 0}, std::pair{&everything_, 2}}) {
    CLVET_ASSIGN_OR_RETURN(const ExecutionPlan plan, place_.plan(*which));
    times_.set_run(plan, ms[static_cast<size_t>(index)]);
  }
  return PlanTimes{ms[0], ms[1], ms[2]};
}

}  // namespace clvet
