#include "runtime/plan/planner.h"

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/builder.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

template <class T>
std::vector<T> choices(const std::optional<T>& fixed, std::initializer_list<T> all) {
  return fixed ? std::vector<T>{*fixed} : std::vector<T>(all);
}

// What ranks first: all wanted kernels trusted, then the time; a lower precision must earn its
// place.
double cost_of(const ExecutionPlan& plan, bool precision_chosen) {
  constexpr double kLowerPrecisionTax = 1.5;
  const bool taxed = precision_chosen && plan.combination.precision != Precision::kHigh;
  return plan.estimated_ms * (taxed ? kLowerPrecisionTax : 1);
}

}  // namespace

Result<ExecutionPlan> plan_for(const Graph& graph, const VariantChooser& chooser,
                               const Combination& combination) {
  return PlanBuilder(graph, chooser, combination).build();
}

ExecutionPlan plan_on_host(const Graph& graph, const std::string& reason) {
  ExecutionPlan plan;
  plan.combination = {Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    plan.nodes.push_back({graph.nodes[i].name, graph.nodes[i].op, Place::kHost, {}, {}, reason});
    PlanStep step;
    step.kind = StepKind::kHost;
    step.node = static_cast<int>(i);
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

Result<ExecutionPlan> plan_model(const Graph& graph, const VariantChooser& chooser,
                                 const PlanOverrides& overrides) {
  using enum Precision;
  std::optional<ExecutionPlan> best;
  for (const Precision precision : choices(overrides.precision, {kHigh, kNormal, kLow})) {
    for (const Storage activations :
         choices(overrides.activations, {Storage::kBuffer, Storage::kImage})) {
      for (const Storage weights :
           choices(overrides.weights, {Storage::kBuffer, Storage::kImage})) {
        const Combination combination{precision, overrides.memory.value_or(Memory::kNormal),
                                      activations, weights};
        CLVET_ASSIGN_OR_RETURN(ExecutionPlan plan, plan_for(graph, chooser, combination));
        if (plan.device_nodes == 0) continue;
        const auto rank = [&](const ExecutionPlan& row) {
          return std::pair(row.fallbacks.size(), cost_of(row, !overrides.precision));
        };
        if (!best || rank(plan) < rank(*best)) best = std::move(plan);
      }
    }
  }
  if (!best) {
    return fail(ErrorCode::kUnavailable, "no node of the model has a right kernel on this device");
  }
  return std::move(*best);
}

}  // namespace clvet
