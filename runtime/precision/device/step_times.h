// What the steps of plans of one network were measured to take, and so what another of its plans
// will take.
#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"

namespace clvet {

// Milliseconds of a warm run: of a few the median, or on a processor, which other programs share,
// the least.
Result<double> measured_run_ms(Session& session, const std::map<std::string, Tensor>& inputs,
                               bool on_processor);

class StepTimes {
 public:
  // Times the steps of the session's plan, `on_processor` as NodeTimes::piped. Returns what
  // measured_run_ms() does.
  Result<double> measure(Session& session, const std::map<std::string, Tensor>& inputs,
                         bool on_processor);

  // A plan that was timed takes `run_ms` now: the machine may be busier than then, or less.
  void set_run(const ExecutionPlan& plan, double run_ms);

  // Milliseconds of a run. A step like none that was measured takes what the report predicts, by
  // the ratio of both for those that were. 0 where nothing was measured.
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
  static std::vector<Key> keys_of(const ExecutionPlan& plan);  // in order

  struct StepTime {
    double ms = std::numeric_limits<double>::infinity();  // the least that was measured
    double predicted_ms = 0;                              // by the report
  };
  struct MeasuredPlan {
    std::vector<Key> steps;  // in order
    double run_ms = 0;
  };
  void keep(MeasuredPlan measured);
  double ms_of(std::span<const Key> steps) const;
  double overhead_like(std::span<const Key> steps) const;

  std::map<Key, StepTime> known_;
  std::vector<MeasuredPlan> plans_;
};

}  // namespace clvet
