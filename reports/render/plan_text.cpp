#include "reports/render/plan_text.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/language.h"
#include "kernels/combination.h"
#include "reports/render/shown.h"
#include "reports/render/text.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

std::string predicted(double ms) { return ms > 0 ? fmt::format("{:.3f} ms", ms) : tr("not timed"); }

std::string phase_text(const PlanPhase& phase) {
  const std::vector<std::string> variants = variants_of(phase);
  std::string text =
      tr("{}: {} nodes, predicted {}", phase.name, phase.nodes.size(), predicted(phase.ms)) + "\n";
  for (size_t i = 0; i < phase.nodes.size(); ++i) {
    const PlannedNode& node = phase.nodes[i];
    const Place place = node.place == Place::kHost ? Place::kHost : Place::kDevice;
    text += fmt::format("  {:<24} {:<18} {:<7} {:>12}  {}\n", node.name.substr(0, 24), node.op,
                        shown(place), node.place == Place::kDevice ? predicted(node.ms) : "",
                        variants[i].empty() ? translated(node.reason) : variants[i]);
  }
  return text;
}

}  // namespace

std::string plan_text(const ExecutionPlan& plan) {
  std::string text = plan.subject.device.empty() ? tr("plan for the host")
                                                 : tr("plan for {} with {}", plan.subject.device,
                                                      describe(plan.combination));
  text += "\n";
  for (const PlanPhase& phase : plan.phases) text += phase_text(phase);
  return text + refused_text(plan.refused);
}

std::string refused_text(const std::vector<RefusedCombination>& refused) {
  std::string text = refused.empty() ? "" : tr("combinations that were not taken:") + "\n";
  for (const RefusedCombination& row : refused) {
    text += fmt::format("  {:<28} {}\n", to_string(row.combination), translated(row.reason));
  }
  return text;
}

}  // namespace clvet
