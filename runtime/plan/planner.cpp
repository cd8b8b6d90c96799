#include "runtime/plan/planner.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/builder.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

// A lower precision has to save a third of the time.
constexpr double kLowerPrecisionTax = 1.5;
// Predictions nearer than this do not tell two plans apart.
constexpr double kNear = 1.1;

template <class T>
std::vector<T> choices(const std::optional<T>& fixed, std::vector<T> all) {
  return fixed ? std::vector<T>{*fixed} : std::move(all);
}

// A sum without the times of some kernels says nothing of how fast a plan is.
bool is_timed(const ExecutionPlan& plan) {
  return plan.ms() > 0 &&
         std::all_of(plan.phases.begin(), plan.phases.end(), [](const PlanPhase& phase) {
           return std::all_of(phase.steps.begin(), phase.steps.end(), [](const PlanStep& step) {
             return step.kind != StepKind::kKernel || step.ms > 0;
           });
         });
}

constexpr double kMiB = 1 << 20;

std::string why_not(const ExecutionPlan& plan, const ExecutionPlan& best) {
  if (plan.fallbacks.size() > best.fallbacks.size()) {
    const Fallback& first = plan.fallbacks.front();
    return fmt::format("node '{}' would need a fallback from {} to {} ({})", first.node, first.from,
                       first.to, first.verdict);
  }
  if (!is_timed(plan)) return "not all of its kernels were timed";
  const std::string ms = three_digits(plan.ms()), best_ms = three_digits(best.ms());
  if (plan.ms() < best.ms() * kNear && plan.bytes > best.bytes) {
    const std::string mib = three_digits(plan.bytes / kMiB),
                      best_mib = three_digits(best.bytes / kMiB);
    if (ms == best_ms) {
      return fmt::format(
          "predicted to take {} ms like the one chosen, with {} MiB of weights instead of {} MiB",
          ms, mib, best_mib);
    }
    return fmt::format(
        "predicted to take {} ms instead of {} ms, with {} MiB of weights instead of {} MiB", ms,
        best_ms, mib, best_mib);
  }
  if (ms != best_ms) return fmt::format("predicted to take {} ms instead of {} ms", ms, best_ms);
  if (plan.combination.precision < best.combination.precision) {
    return fmt::format("predicted to take {} ms like the one chosen, which is more precise", ms);
  }
  return fmt::format("predicted to take {} ms like the one chosen", ms);
}

// Predictions and reasons do not decide what runs.
ExecutionPlan decided(ExecutionPlan plan) {
  for (PlanPhase& phase : plan.phases) {
    phase.ms = 0;
    for (PlannedNode& node : phase.nodes) {
      node.ms = 0;
      node.reason.clear();
      node.untested = false;
    }
    for (PlanStep& step : phase.steps) step.ms = 0;
  }
  return plan;
}

template <class Row>
std::string difference(const std::string& what, const std::vector<Row>& made,
                       const std::vector<Row>& given) {
  if (made.size() != given.size()) {
    return fmt::format("{} has {} rows instead of {}", what, given.size(), made.size());
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (!(made[i] == given[i])) return fmt::format("{}[{}]", what, i);
  }
  return {};
}

struct Tried {
  std::vector<ExecutionPlan> plans;
  std::vector<RefusedCombination> refused;
};

// One plan at least.
Result<Tried> try_all(std::span<const Combination> combinations, const PlanOne& plan_one) {
  Tried tried;
  Error first{ErrorCode::kUnavailable, "no combination was requested", 0};
  for (const Combination& combination : combinations) {
    auto plan = plan_one(combination);
    if (plan) {
      tried.plans.push_back(std::move(*plan));
      continue;
    }
    const Error& error = plan.error();
    if (!cannot_run_here(error.code)) return tl::unexpected(error);
    if (tried.refused.empty()) first = error;
    tried.refused.push_back(
        {combination, error.message, false, 0, 0, error.code == ErrorCode::kUnsupported});
  }
  if (!tried.plans.empty()) return tried;
  return fail(first.code, "no combination can run the model: {}", first.message);
}

// The fastest, or the smallest of those that are like it and about as fast.
ExecutionPlan& best_of(std::vector<ExecutionPlan>& plans, const PlanOverrides& words) {
  const auto key = [&](const ExecutionPlan& plan) {
    const bool lower = !words.precision && plan.combination.precision != Precision::kHigh;
    return std::tuple(plan.fallbacks.size(), !is_timed(plan),
                      plan.ms() * (lower ? kLowerPrecisionTax : 1));
  };
  const auto fastest = std::min_element(
      plans.begin(), plans.end(), [&](const auto& a, const auto& b) { return key(a) < key(b); });
  auto best = fastest;
  for (auto plan = plans.begin(); plan != plans.end(); ++plan) {
    const bool alike = plan->fallbacks.size() == fastest->fallbacks.size() &&
                       plan->combination.precision == fastest->combination.precision;
    const bool near = is_about_as_fast(*plan, *fastest);
    const bool smaller = std::tuple(plan->bytes, plan->ms()) < std::tuple(best->bytes, best->ms());
    if (alike && near && smaller) best = plan;
  }
  return *best;
}

}  // namespace

std::vector<Combination> combinations_of(const PlanOverrides& words,
                                         const CombinationSpace& space) {
  using enum Storage;
  std::vector<Memory> memories = {Memory::kNormal};
  if (space.quantised_weights) memories.insert(memories.begin(), Memory::kLow);
  std::vector<Storage> activations = {kBuffer};
  if (space.image_activations) activations.push_back(kImage);
  std::vector<Combination> all;
  for (const Precision precision :
       choices(words.precision, {Precision::kHigh, Precision::kNormal, Precision::kLow})) {
    for (const Memory memory : choices(words.memory, memories)) {
      for (const Storage storage : choices(words.activations, activations)) {
        for (const Storage weights : choices(words.weights, {kBuffer, kImage})) {
          all.push_back({precision, memory, storage, weights});
        }
      }
    }
  }
  return all;
}

bool is_about_as_fast(const ExecutionPlan& plan, const ExecutionPlan& other) {
  return is_timed(plan) && (!is_timed(other) || plan.ms() < other.ms() * kNear);
}

bool cannot_run_here(ErrorCode code) {
  return code == ErrorCode::kUnavailable || code == ErrorCode::kResourceExhausted ||
         code == ErrorCode::kUntested || code == ErrorCode::kUnsupported ||
         code == ErrorCode::kDeviceError;
}

Result<ExecutionPlan> best_plan(std::span<const Combination> combinations, const PlanOne& plan_one,
                                const PlanOverrides& words) {
  CLVET_ASSIGN_OR_RETURN(Tried tried, try_all(combinations, plan_one));
  ExecutionPlan& best = best_of(tried.plans, words);
  for (const ExecutionPlan& plan : tried.plans) {
    if (&plan == &best) continue;
    tried.refused.push_back({plan.combination, why_not(plan, best), true, plan.ms(), plan.bytes});
  }
  best.refused = std::move(tried.refused);
  return std::move(best);
}

Result<ExecutionPlan> plan_network_for(const Graph& graph, const VariantChooser& chooser,
                                       const Combination& combination, const PlanFreedom& freedom) {
  CLVET_ASSIGN_OR_RETURN(ExecutionPlan plan,
                         PlanBuilder(graph, chooser, combination, freedom).build());
  if (plan.device_nodes() > 0) return plan;
  const auto& nodes = plan.phases.front().nodes;
  const bool untested =
      std::any_of(nodes.begin(), nodes.end(), [](const auto& node) { return node.untested; });
  return fail(untested ? ErrorCode::kUntested : ErrorCode::kUnavailable,
              "no node of the model has a kernel that is correct on this device");
}

Result<ExecutionPlan> plan_network(const Graph& graph, const VariantChooser& chooser,
                                   const PlanOverrides& words) {
  PlanFreedom freedom{.weights = !words.weights, .raised = &words.raised, .memory = words.memory};
  PlanOverrides named = words;
  if (freedom.weights) named.weights = Storage::kBuffer;
  const auto plan_one = [&](const Combination& combination) {
    return plan_network_for(graph, chooser, combination, freedom);
  };
  CLVET_ASSIGN_OR_RETURN(
      ExecutionPlan best,
      best_plan(combinations_of(named, {.image_activations = true}), plan_one, words));
  if (words.activations) return best;
  freedom.activations = true;
  CLVET_ASSIGN_OR_RETURN(ExecutionPlan mixed, plan_one(best.combination));
  const bool saves = is_timed(mixed) && mixed.ms() * kNear <= best.ms();
  if (mixed.fallbacks.size() > best.fallbacks.size() || !saves) return best;
  mixed.refused = std::move(best.refused);
  mixed.refused.push_back({best.combination, why_not(best, mixed), true, best.ms(), 0});
  return mixed;
}

ExecutionPlan plan_on_host(const Graph& graph, const std::string& reason) {
  ExecutionPlan plan;
  plan.combination = {Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
  PlanPhase phase{"run", {}, {}, 0};
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    phase.nodes.push_back({graph.nodes[i].name, graph.nodes[i].op, Place::kHost, reason, 0});
    PlanStep step;
    step.kind = StepKind::kHost;
    step.node = static_cast<int>(i);
    phase.steps.push_back(std::move(step));
  }
  plan.phases.push_back(std::move(phase));
  return plan;
}

Status check_network_plan(const Graph& graph, const VariantChooser& chooser,
                          const ExecutionPlan& plan) {
  const bool shaped =
      plan.phases.size() == 1 && plan.phases.front().nodes.size() == graph.nodes.size();
  if (!shaped) {
    return fail(ErrorCode::kInvalidArgument, "the plan does not have the {} nodes of this network",
                graph.nodes.size());
  }
  CLVET_ASSIGN_OR_RETURN(const ExecutionPlan made,
                         PlanBuilder(graph, chooser, plan.combination, {}, &plan).build());
  const std::string where = first_difference(made, plan);
  if (where.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, "the plan contradicts its own kernel variants: {}",
              where);
}

std::string first_difference(const ExecutionPlan& made, const ExecutionPlan& given) {
  const ExecutionPlan a = decided(made), b = decided(given);
  if (a.phases.size() != b.phases.size()) return "phases";
  for (size_t i = 0; i < a.phases.size(); ++i) {
    const PlanPhase &x = a.phases[i], &y = b.phases[i];
    if (x.name != y.name) return fmt::format("phases[{}].name", i);
    const std::string inside = fmt::format("phases[{}].", i);
    for (const std::string& found : {difference(inside + "nodes", x.nodes, y.nodes),
                                     difference(inside + "steps", x.steps, y.steps)}) {
      if (!found.empty()) return found;
    }
  }
  for (const std::string& found : {difference("tensors", a.tensors, b.tensors),
                                   difference("slot_bytes", a.slot_bytes, b.slot_bytes),
                                   difference("constants", a.constants, b.constants)}) {
    if (!found.empty()) return found;
  }
  return a.next_token == b.next_token ? "" : "next_token";
}

}  // namespace clvet
