#include "reports/render/plan_text.h"

#include <fmt/format.h>
#include <cstddef>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "reports/render/text.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

std::string predicted(double ms) { return ms > 0 ? fmt::format("{:.3f} ms", ms) : "not timed"; }

std::string phase_text(const PlanPhase& phase) {
  const std::vector<std::string> variants = variants_of(phase);
  std::string text = fmt::format("{}: {} nodes, predicted {}\n", phase.name, phase.nodes.size(),
                                 predicted(phase.ms));
  for (size_t i = 0; i < phase.nodes.size(); ++i) {
    const PlannedNode& node = phase.nodes[i];
    const Place place = node.place == Place::kHost ? Place::kHost : Place::kDevice;
    text += fmt::format("  {:<24} {:<18} {:<7} {:>12}  {}\n", node.name.substr(0, 24), node.op,
                        to_string(place), node.place == Place::kDevice ? predicted(node.ms) : "",
                        variants[i].empty() ? node.reason : variants[i]);
  }
  return text;
}

}  // namespace

std::string plan_text(const ExecutionPlan& plan) {
  std::string text =
      plan.subject.device.empty()
          ? "plan for the host\n"
          : fmt::format("plan for {} with {}\n", plan.subject.device, describe(plan.combination));
  for (const PlanPhase& phase : plan.phases) text += phase_text(phase);
  return text + refused_text(plan.refused);
}

std::string refused_text(const std::vector<RefusedCombination>& refused) {
  std::string text = refused.empty() ? "" : "not taken:\n";
  for (const RefusedCombination& row : refused) {
    text += fmt::format("  {:<28} {}\n", to_string(row.combination), row.reason);
  }
  return text;
}

}  // namespace clvet
