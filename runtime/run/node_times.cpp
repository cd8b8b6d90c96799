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

Result<NodeTimes> usual_times(Session& session, const std::map<std::string, Tensor>& inputs,
                              bool on_processor) {
  constexpr size_t kMostRuns = 9;
  constexpr double kPatience = 0.5;  // seconds
  std::vector<NodeTimes> runs;
  const double until = monotonic_seconds() + kPatience;
  while (runs.empty() || (runs.size() < kMostRuns && monotonic_seconds() < until)) {
    runs.push_back({.piped = on_processor});
    CLVET_RETURN_IF_ERROR(session.run(inputs, &runs.back()));
  }
  NodeTimes usual = runs.front();
  const auto settle = [&](std::vector<double> NodeTimes::*times) {
    for (size_t i = 0; i < (usual.*times).size(); ++i) {
      std::vector<double> samples;
      for (const NodeTimes& run : runs) samples.push_back((run.*times).at(i));
      (usual.*times)[i] = on_processor ? undisturbed(samples) : median(std::move(samples));
    }
  };
  settle(&NodeTimes::ms);
  settle(&NodeTimes::steps);
  return usual;
}

Status time_nodes(Session& session, const std::map<std::string, Tensor>& inputs, bool on_processor,
                  RunRecord& record) {
  CLVET_ASSIGN_OR_RETURN(const NodeTimes times, usual_times(session, inputs, on_processor));
  for (size_t i = 0; i < record.nodes.size(); ++i) record.nodes[i].ms = times.ms.at(i);
  return {};
}

}  // namespace clvet
