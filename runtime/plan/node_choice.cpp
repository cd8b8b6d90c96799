// Which variants the calls of a node take, and what that costs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
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
// Of what other calls in the place of a node's hand on, the bytes that stay in a processor's caches
// as they did when the kernels were timed. On two Zen 5 cores 10 MB of it cost 0.2 ms more than the
// kernels alone, 39 MB 1.7 ms.
constexpr double kCached = 8 << 20;
// The part of the device's memory that they may take at most.
constexpr int64_t kPartOfMemory = 8;

int64_t bytes_at_high(const TensorRole& role) {
  return role.kind == TensorKind::kWeights
             ? weight_rows(role) * weight_columns(role) * static_cast<int64_t>(sizeof(float))
             : static_cast<int64_t>(activation_bytes(role, Precision::kHigh));
}

// That a call makes this for the next one.
bool hands_on(const LoweredCall& call, const TensorRole& role) {
  return role.kind == TensorKind::kOutput && call.output == kTemporary;
}

double bytes_handed_on(const std::vector<LoweredCall>& calls) {
  double bytes = 0;
  for (const LoweredCall& call : calls) {
    const auto roles = find_op_contract(call.op)->roles(call.dims);
    if (!roles) continue;
    for (const TensorRole& role : *roles) {
      if (hands_on(call, role)) bytes += static_cast<double>(bytes_at_high(role));
    }
  }
  return bytes;
}

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
        const ValueId value = node.inputs[static_cast<size_t>(input.input)];
        const bool half = stores_half(chosen[i].variant().precision);
        ms += copy_cost(value, *role, arg.storage, half);
        ms += order_cost(value, {*role, input.view, input.rank, Storage::kBuffer, half});
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

std::optional<PlanBuilder::ChosenWay> PlanBuilder::choose_other(
    int index, const Lowering& lowering, const std::vector<ChosenVariant>& chosen) const {
  const Node& node = node_at(index);
  if (lowering.others.empty() || node.has_level_weights) return std::nullopt;
  const double ms = cost_of(node, lowering.calls, chosen);
  std::optional<ChosenWay> best;
  for (const OtherCalls& other : lowering.others) {
    auto way = way_of(index, other.calls, chosen[0].variant());
    if (way && way->ms <= other.most * ms && !(best && best->ms <= way->ms)) best = std::move(way);
  }
  return best;
}

std::optional<PlanBuilder::ChosenWay> PlanBuilder::way_of(int index,
                                                          const std::vector<LoweredCall>& calls,
                                                          const Variant& wanted) const {
  if (!has_room(calls)) return std::nullopt;
  auto chosen = choose_stored(index, calls, wanted.activations);
  const auto is_alike = [&](const ChosenVariant& one) {
    return one.instead_of.empty() && one.variant().precision == wanted.precision &&
           one.variant().activations == wanted.activations;
  };
  if (!chosen || !std::ranges::all_of(*chosen, is_alike)) return std::nullopt;
  const double timed = cost_of(node_at(index), calls, *chosen);
  if (!(timed > 0)) return std::nullopt;
  const double from_memory = std::max(bytes_handed_on(calls) - kCached, 0.0);
  const double ms = timed + 2 * chooser_.cost().cold_ms(from_memory);  // written and read
  return ChosenWay{&calls, std::move(*chosen), ms};
}

bool PlanBuilder::has_room(const std::vector<LoweredCall>& calls) const {
  const auto size_of = [](int64_t limit) { return limit > 0 ? limit : INT64_MAX; };
  const int64_t largest = size_of(chooser_.features().largest_buffer);
  const int64_t room = size_of(chooser_.features().memory / kPartOfMemory);
  for (const LoweredCall& call : calls) {
    const auto roles = find_op_contract(call.op)->roles(call.dims);
    if (!roles) return false;
    for (const TensorRole& role : *roles) {
      const bool is_made = role.kind == TensorKind::kWeights || hands_on(call, role);
      if (is_made && bytes_at_high(role) > largest) return false;
    }
  }
  return bytes_handed_on(calls) <= static_cast<double>(room);
}

const std::vector<LoweredCall>& PlanBuilder::fixed_calls(int index,
                                                         const Lowering& lowering) const {
  std::vector<std::string_view> ops;
  for (const PlanStep& step : fixed_->phases.front().steps) {
    if (step.kind == StepKind::kKernel && step.node == index) ops.push_back(step.op);
  }
  const auto other = std::ranges::find_if(lowering.others, [&](const OtherCalls& one) {
    return std::ranges::equal(one.calls, ops, {}, &LoweredCall::op);
  });
  return other != lowering.others.end() ? other->calls : lowering.calls;
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
