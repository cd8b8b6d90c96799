// What the steps of plans of one network were measured to take, and so what another of its plans
// will take.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"

namespace clvet {

class StepTimes {
 public:
  // Runs the session's plan a few times, `on_processor` as NodeTimes::piped. Milliseconds of an
  // untimed run, the median.
  Result<double> measure(Session& session, const std::map<std::string, Tensor>& inputs,
                         bool on_processor);

  // Milliseconds of a run. A step like none that was measured takes what the report predicts, by
  // the mean ratio of both. 0 where nothing was measured.
  double predict(const ExecutionPlan& plan) const;

 private:
  // Steps of one key take the same time.
  struct Key {
    StepKind kind = StepKind::kHost;
    int node = -1;
    std::string variant;
    Dims dims;
    double bytes = 0;  // of a hand-over
    auto operator<=>(const Key&) const = default;
  };
  static Key key_of(const ExecutionPlan& plan, const PlanStep& step);

  std::map<Key, double> ms_;
  // Of measured plans: runs, the sums of their steps' times, and of the predictions of these.
  double runs_ms_ = 0, steps_ms_ = 0, predicted_ms_ = 0;
};

}  // namespace clvet
