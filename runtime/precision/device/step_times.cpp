#include "runtime/precision/device/step_times.h"

#include <cstddef>
#include <map>
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

constexpr size_t kSamples = 5, kTimedRuns = 3;

}  // namespace

StepTimes::Key StepTimes::key_of(const ExecutionPlan& plan, const PlanStep& step) {
  Key key{step.kind, step.node, step.variant, step.dims};
  if (step.kind == StepKind::kUpload || step.kind == StepKind::kDownload)
    key.bytes = static_cast<double>(device_bytes(plan.tensors[static_cast<size_t>(step.tensor)]));
  return key;
}

Result<double> StepTimes::measure(Session& session, const std::map<std::string, Tensor>& inputs,
                                  bool on_processor) {
  std::vector<double> runs;
  for (size_t i = 0; i <= kSamples; ++i) {
    const double started = monotonic_seconds();
    CLVET_RETURN_IF_ERROR(session.run(inputs));
    if (i > 0) runs.push_back(ms_since(started));
  }
  const std::vector<PlanStep>& steps = session.plan().phases.front().steps;
  std::vector<std::vector<double>> samples(steps.size());
  for (size_t run = 0; run < kTimedRuns; ++run) {
    NodeTimes times{.piped = on_processor};
    CLVET_RETURN_IF_ERROR(session.run(inputs, &times));
    for (size_t i = 0; i < steps.size(); ++i) samples[i].push_back(times.steps[i]);
  }
  // Of one key the mean: a node may launch the same kernel more than once.
  std::map<Key, std::vector<double>> found;
  for (size_t i = 0; i < steps.size(); ++i) {
    const double ms = on_processor ? undisturbed(samples[i]) : median(std::move(samples[i]));
    found[key_of(session.plan(), steps[i])].push_back(ms);
    predicted_ms_ += steps[i].ms;
    steps_ms_ += ms;
  }
  for (const auto& [key, all] : found) {
    double total = 0;
    for (const double ms : all) total += ms;
    ms_[key] = total / static_cast<double>(all.size());
  }
  const double ms = median(std::move(runs));
  runs_ms_ += ms;
  return ms;
}

double StepTimes::predict(const ExecutionPlan& plan) const {
  if (!(steps_ms_ > 0)) return 0;
  const double of_prediction = predicted_ms_ > 0 ? steps_ms_ / predicted_ms_ : 0;
  double ms = 0;
  for (const PlanStep& step : plan.phases.front().steps) {
    const auto known = ms_.find(key_of(plan, step));
    ms += known != ms_.end() ? known->second : step.ms * of_prediction;
  }
  return ms * runs_ms_ / steps_ms_;
}

}  // namespace clvet
