#include "runtime/run/node_times.h"

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
#include "runtime/plan/variant_table.h"
#include "runtime/run/run_record.h"

namespace clvet {

void describe_plan(const ExecutionPlan& plan, RunRecord& record) {
  record.combination = plan.combination;
  record.refused = plan.refused;
  record.fallbacks = plan.fallbacks;
  record.nodes.clear();
  const PlanPhase& phase = plan.phases.front();
  const std::vector<std::string> variants = variants_of(phase);
  for (size_t i = 0; i < phase.nodes.size(); ++i) {
    const PlannedNode& node = phase.nodes[i];
    record.nodes.push_back({node.name, node.op,
                            node.place == Place::kHost ? Place::kHost : Place::kDevice, variants[i],
                            variant_key_of(variants[i]), node.reason, 0, node.ms});
  }
}

Status time_nodes(Session& session, const std::map<std::string, Tensor>& inputs, bool on_processor,
                  RunRecord& record) {
  constexpr size_t kMostRuns = 9;
  constexpr double kPatience = 0.5;  // seconds
  std::vector<std::vector<double>> samples(record.nodes.size());
  const double until = monotonic_seconds() + kPatience;
  for (size_t run = 0; run == 0 || (run < kMostRuns && monotonic_seconds() < until); ++run) {
    NodeTimes times{.piped = on_processor};
    CLVET_RETURN_IF_ERROR(session.run(inputs, &times));
    for (size_t i = 0; i < samples.size(); ++i) samples[i].push_back(times.ms.at(i));
  }
  for (size_t i = 0; i < samples.size(); ++i) {
    record.nodes[i].ms = on_processor ? undisturbed(samples[i]) : median(std::move(samples[i]));
  }
  return {};
}

}  // namespace clvet
