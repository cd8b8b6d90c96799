#include "runtime/precision/device/step_times.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/numbers.h"
#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

// Short runs are repeated for as long as a moment without other programs may take to come.
constexpr size_t kLeastRuns = 5, kLeastTimedRuns = 3;
constexpr double kPatience = 0.05;  // seconds

// On a processor other programs lengthen what is measured, and nothing shortens it.
double typical(std::vector<double> samples, bool on_processor) {
  return on_processor ? undisturbed(samples) : median(std::move(samples));
}

// Milliseconds of a warm run. `between` follows each one: how many came before, and whether there
// is patience left.
Result<double> typical_run(Session& session, const std::map<std::string, Tensor>& inputs,
                           bool on_processor,
                           const std::function<Status(size_t run, bool patient)>& between) {
  // Each launch of the first run is waited for: what the driver dies of has a name then.
  NodeTimes waited;
  CLVET_RETURN_IF_ERROR(session.run(inputs, &waited));
  std::vector<double> runs;
  const double until = monotonic_seconds() + kPatience;
  for (size_t i = 0; i < kLeastRuns || monotonic_seconds() < until; ++i) {
    const double started = monotonic_seconds();
    CLVET_RETURN_IF_ERROR(session.run(inputs));
    runs.push_back(ms_since(started));
    CLVET_RETURN_IF_ERROR(between(i, monotonic_seconds() < until));
  }
  return typical(std::move(runs), on_processor);
}

}  // namespace

StepTimes::Key StepTimes::key_of(const ExecutionPlan& plan, const PlanStep& step) {
  Key key{step.kind, step.node, step.variant, step.dims};
  if (step.kind == StepKind::kUpload || step.kind == StepKind::kDownload)
    key.bytes = static_cast<double>(device_bytes(plan.tensors[static_cast<size_t>(step.tensor)]));
  return key;
}

std::vector<StepTimes::Key> StepTimes::keys_of(const ExecutionPlan& plan) {
  std::vector<Key> keys;
  for (const PlanStep& step : plan.phases.front().steps) keys.push_back(key_of(plan, step));
  std::ranges::sort(keys);
  return keys;
}

Result<double> measured_run_ms(Session& session, const std::map<std::string, Tensor>& inputs,
                               bool on_processor) {
  return typical_run(session, inputs, on_processor, [](size_t, bool) { return Status(); });
}

Result<double> StepTimes::measure(Session& session, const std::map<std::string, Tensor>& inputs,
                                  bool on_processor) {
  const std::vector<PlanStep>& steps = session.plan().phases.front().steps;
  std::vector<std::vector<double>> samples(steps.size());
  // In turn, so that both meet the same moments.
  const auto time_steps = [&](size_t run, bool patient) -> Status {
    if (run >= kLeastTimedRuns && !patient) return {};
    NodeTimes times{.piped = on_processor};
    CLVET_RETURN_IF_ERROR(session.run(inputs, &times));
    for (size_t step = 0; step < steps.size(); ++step) samples[step].push_back(times.steps[step]);
    return {};
  };
  CLVET_ASSIGN_OR_RETURN(const double run_ms,
                         typical_run(session, inputs, on_processor, time_steps));
  // Of one key the mean: a node may launch the same kernel more than once.
  std::map<Key, std::vector<double>> found;
  for (size_t i = 0; i < steps.size(); ++i) {
    const Key key = key_of(session.plan(), steps[i]);
    found[key].push_back(typical(std::move(samples[i]), on_processor));
    known_[key].predicted_ms = steps[i].ms;
  }
  for (const auto& [key, all] : found) {
    const double ms =
        std::accumulate(all.begin(), all.end(), 0.0) / static_cast<double>(all.size());
    known_[key].ms = std::min(known_[key].ms, ms);
  }
  keep({keys_of(session.plan()), run_ms});
  return run_ms;
}

void StepTimes::keep(MeasuredPlan measured) {
  const auto before = std::ranges::find(plans_, measured.steps, &MeasuredPlan::steps);
  if (before == plans_.end()) {
    plans_.push_back(std::move(measured));
  } else {
    before->run_ms = std::min(before->run_ms, measured.run_ms);
  }
}

void StepTimes::set_run(const ExecutionPlan& plan, double run_ms) {
  const auto known = std::ranges::find(plans_, keys_of(plan), &MeasuredPlan::steps);
  if (known != plans_.end()) known->run_ms = run_ms;
}

double StepTimes::ms_of(std::span<const Key> steps) const {
  double ms = 0;
  for (const Key& key : steps) ms += known_.at(key).ms;
  return ms;
}

// What a run takes over the sum of its steps, of the measured plan that has most in common with
// `steps` (in order).
double StepTimes::overhead_like(std::span<const Key> steps) const {
  double overhead = 1, most = -1;
  for (const MeasuredPlan& plan : plans_) {
    std::vector<Key> shared;
    std::ranges::set_intersection(plan.steps, steps, std::back_inserter(shared));
    const double of_plan = ms_of(plan.steps);
    const double part = ms_of(shared) / of_plan;
    if (!(part > most)) continue;
    most = part;
    overhead = plan.run_ms / of_plan;
  }
  return overhead;
}

double StepTimes::predict(const ExecutionPlan& plan) const {
  double measured = 0, predicted = 0;
  for (const auto& [key, known] : known_) measured += known.ms, predicted += known.predicted_ms;
  if (!(measured > 0)) return 0;
  const double of_prediction = predicted > 0 ? measured / predicted : 0;
  double ms = 0;
  for (const PlanStep& step : plan.phases.front().steps) {
    const auto known = known_.find(key_of(plan, step));
    ms += known != known_.end() ? known->second.ms : step.ms * of_prediction;
  }
  return ms * overhead_like(keys_of(plan));
}

}  // namespace clvet
