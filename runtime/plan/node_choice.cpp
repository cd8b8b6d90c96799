// Which variants the calls of a node take, and what that costs.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/plan/builder.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

// What a third of the memory for weights may cost.
constexpr double kTimeForMemory = 1.25;

}  // namespace

Result<std::vector<ChosenVariant>> PlanBuilder::choose_all(
    int index, const std::vector<LoweredCall>& calls) const {
  const Storage wanted = plan_.combination.activations;
  auto chosen = choose_stored(index, calls, wanted);
  if (!freedom_.activations || !chosen) return chosen;
  auto other =
      choose_stored(index, calls, wanted == Storage::kBuffer ? Storage::kImage : Storage::kBuffer);
  if (!other) return chosen;
  const double ms = cost_of(node_at(index), calls, *chosen);
  const double other_ms = cost_of(node_at(index), calls, *other);
  return ms > 0 && other_ms > 0 && other_ms < ms ? other : chosen;
}

Precision PlanBuilder::precision_of(const Node& node) const {
  const bool raised = node.is_step || (freedom_.raised && freedom_.raised->contains(node.name));
  return raised ? Precision::kHigh : plan_.combination.precision;
}

Result<std::vector<ChosenVariant>> PlanBuilder::choose_stored(int index,
                                                              const std::vector<LoweredCall>& calls,
                                                              Storage activations) const {
  // What the calls hand to each other must be stored alike.
  Combination combination = plan_.combination;
  combination.precision = precision_of(node_at(index));
  combination.activations = activations;
  for (const bool again : {false, true}) {
    if (again) combination.precision = Precision::kHigh;
    std::vector<ChosenVariant> all;
    for (const LoweredCall& call : calls) {
      WantedCall wanted{call.op, call.dims, call.scalars, combination};
      wanted.open_weights = freedom_.weights;
      CLVET_ASSIGN_OR_RETURN(ChosenVariant chosen, chooser_.choose(wanted));
      auto levels = choose_levels(node_at(index), wanted, chosen);
      all.push_back(levels ? std::move(*levels) : std::move(chosen));
    }
    const bool alike = std::all_of(all.begin(), all.end(), [&](const ChosenVariant& one) {
      return stores_half(one.variant().precision) == stores_half(all[0].variant().precision);
    });
    if (alike) return all;
  }
  return fail(ErrorCode::kUnavailable, "its kernels are correct only at different precisions");
}

// Halves would round the scales, and what lies between two levels with them.
std::optional<ChosenVariant> PlanBuilder::choose_levels(const Node& node, WantedCall wanted,
                                                        const ChosenVariant& floats) const {
  const Variant& variant = floats.variant();
  if (!node.has_level_weights || freedom_.memory == Memory::kNormal || !variant.weights ||
      variant.precision != Precision::kHigh)
    return std::nullopt;
  wanted.type = WeightType::kInt8;
  wanted.combination = variant.combination();
  auto levels = chooser_.choose(wanted);
  if (!levels || !levels->instead_of.empty()) return std::nullopt;
  const Variant& own = levels->variant();
  if (own.activations != variant.activations) return std::nullopt;
  if (!freedom_.weights && own.weights != variant.weights) return std::nullopt;
  const double ms = levels->ms + levels->launch_ms, floats_ms = floats.ms + floats.launch_ms;
  const bool timed = levels->ms > 0 || !(floats.ms > 0);
  const bool worth = freedom_.memory == Memory::kLow || (timed && ms <= kTimeForMemory * floats_ms);
  return worth ? std::optional(std::move(*levels)) : std::nullopt;
}

WeightType PlanBuilder::weights_of(const Node& node, const std::string& variant) const {
  const TableRow* row = chooser_.table().find(variant);
  const bool levels = row && node.has_level_weights &&
                      row->variant.weight_type == WeightType::kInt8 &&
                      row->variant.precision == Precision::kHigh;
  return levels ? WeightType::kInt8 : WeightType::kFloat;
}

double PlanBuilder::cost_of(const Node& node, const std::vector<LoweredCall>& calls,
                            const std::vector<ChosenVariant>& chosen) const {
  double ms = 0;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (!(chosen[i].ms > 0)) return 0;
    ms += chosen[i].ms + chosen[i].launch_ms;
    const auto roles = find_op_contract(calls[i].op)->roles(calls[i].dims);
    for (const CallArg& arg : chosen[i].call.args) {
      const TensorRole* role = roles ? role_of(*roles, arg) : nullptr;
      if (arg.kind != ArgKind::kInput || !role) continue;
      for (const LoweredInput& input : calls[i].inputs) {
        if (input.role != arg.name || input.input < 0) continue;
        ms += copy_cost(node.inputs[static_cast<size_t>(input.input)], *role, arg.storage,
                        stores_half(chosen[i].variant().precision));
      }
    }
  }
  return ms;
}

// 0 where the value is stored so already, or is not on the device at all.
double PlanBuilder::copy_cost(ValueId value, const TensorRole& role, Storage storage,
                              bool half) const {
  bool elsewhere = false;
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    if (tensor_values_[i] != value || plan_.tensors[i].row_numbers > 0) continue;
    if (plan_.tensors[i].storage == storage) return 0;
    elsewhere = true;
  }
  if (!elsewhere) return 0;
  const std::string op = copy_op(storage);
  Dims dims;
  put_nhwc({role.n, role.h, role.w, role.c}, dims);
  const Scalars none;
  const auto copy = chooser_.choose({op, dims, none, copy_combination(half)});
  return copy ? copy->ms + copy->launch_ms : 0;
}

Result<std::vector<ChosenVariant>> PlanBuilder::fixed_choices(
    int index, const std::vector<LoweredCall>& calls) const {
  std::vector<ChosenVariant> all;
  for (const PlanStep& step : fixed_->phases.front().steps) {
    if (step.kind != StepKind::kKernel || step.node != index) continue;
    if (all.size() == calls.size()) break;
    const LoweredCall& call = calls[all.size()];
    WantedCall wanted{call.op, call.dims, call.scalars, {}};
    wanted.type = weights_of(node_at(index), step.variant);
    auto chosen = chooser_.choose_named(wanted, step.variant);
    if (!chosen) {
      return fail(ErrorCode::kInvalidArgument, "node '{}': {}", node_at(index).name,
                  chosen.error().message);
    }
    all.push_back(std::move(*chosen));
  }
  if (all.size() < calls.size()) {
    return fail(ErrorCode::kInvalidArgument, "node '{}' needs {} kernels, but the plan has {}",
                node_at(index).name, calls.size(), all.size());
  }
  return all;
}

}  // namespace clvet
