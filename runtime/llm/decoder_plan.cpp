#include "runtime/llm/decoder_plan.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/layout.h"
#include "probe/report/report.h"
#include "probe/trial/cases.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/llm_config.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

constexpr int64_t kPromptRows = 16;  // stands for any prompt: kernels for many rows
// Until trials say more: what a launch takes, and how fast bytes come.
constexpr double kLaunchMs = 0.01, kBytesPerMs = 1e7;

template <class T>
std::vector<T> choices(const std::optional<T>& given, std::vector<T> all) {
  return given ? std::vector<T>{*given} : all;
}

double elements(const DecoderCall& call) {
  const auto n = call.dims.find("N"), k = call.dims.find("K");
  if (call.matrix().empty() || k == call.dims.end()) return 0;
  return static_cast<double>(n->second) * static_cast<double>(k->second);
}

double bytes_of(WeightType type, Precision precision) {
  if (type == WeightType::kInt4) return 0.5;
  if (type == WeightType::kInt8) return 1;
  return stores_half(precision) ? 2 : 4;
}

// The weights that a token reads, whether or not any kernel is right.
double bytes_of(const DecoderPlanner& planner, const LlmConfig& config) {
  double bytes = 0;
  const Precision precision = planner.combination().precision;
  for (const DecoderCall& call : decoder_calls(config, 1, kPromptRows, true, planner.head_rows())) {
    const WeightType type = planner.type_of(call.matrix());
    const double scales = type == WeightType::kFloat ? 0 : 2.0 / kQuantBlock;
    bytes += elements(call) *
             (bytes_of(type, precision) + scales * bytes_of(WeightType::kFloat, precision));
  }
  return bytes;
}

// One token by what is known of the kernels; an error where one of them is not right.
Result<double> estimate(std::span<const DecoderChoice> choices) {
  double ms = 0;
  for (const auto& [call, answer, chosen] : choices) {
    if (!chosen) return tl::unexpected(chosen.error());
    if (!answer) continue;
    const double count = elements(call);
    const double bytes = count * bytes_of(chosen->variant.weight_type.value_or(WeightType::kFloat),
                                          chosen->variant.precision);
    const double arithmetic = chosen->gflops > 0 ? 2 * count / chosen->gflops * 1e-6 : 0;
    ms += kLaunchMs + std::max(arithmetic, bytes / kBytesPerMs);
  }
  return ms;
}

}  // namespace

DecoderKernels::DecoderKernels(const Catalog& catalog, const DeviceEvidence& evidence,
                               const DeviceFeatures& features)
    : features_(features) {
  for (const WeightType type : {WeightType::kFloat, WeightType::kInt8, WeightType::kInt4}) {
    choosers_[type] = std::make_shared<const VariantChooser>(catalog, evidence, features, type);
  }
}

int64_t DecoderPlanner::head_rows() const {
  if (combination_.weights != Storage::kImage) return 0;
  return features().image_width * 4 / kColumnAlign * kColumnAlign;
}

WeightType DecoderPlanner::type_of(const std::string& matrix) const {
  if (matrix.empty() || combination_.memory != Memory::kLow) return WeightType::kFloat;
  return weights_->type_of(matrix).value_or(WeightType::kFloat);
}

Result<ChosenVariant> DecoderPlanner::choose(const DecoderCall& call) const {
  std::string reason;
  auto chosen = kernels_.of(type_of(call.matrix()))
                    .choose(call.op, call.dims, call.scalars, combination_, reason);
  if (!chosen) return fail(ErrorCode::kUnavailable, "{}", reason);
  const bool alike = stores_half(chosen->variant.precision) == stores_half(combination_.precision);
  // What the words of the combination name must be so, or the plan would not be what it is called.
  const bool as_asked =
      chosen->variant.precision == combination_.precision || call.matrix().empty();
  if (!alike || !as_asked) {
    return fail(ErrorCode::kUnavailable, "{} is {}", chosen->instead_of, chosen->verdict);
  }
  return std::move(*chosen);
}

std::vector<DecoderChoice> DecoderPlanner::choose_all(const LlmConfig& config) const {
  std::vector<DecoderChoice> choices;
  for (const bool answer : {true, false}) {
    for (DecoderCall& call :
         decoder_calls(config, answer ? 1 : kPromptRows, kPromptRows, answer, head_rows())) {
      auto chosen = choose(call);
      choices.push_back({std::move(call), answer, std::move(chosen)});
    }
  }
  return choices;
}

Result<DecoderMemory> DecoderPlanner::memory(const LlmConfig& config,
                                             std::span<const DecoderChoice> choices) const {
  std::vector<PlannedCall> calls;
  for (const DecoderChoice& row : choices) {
    if (!row.chosen) return tl::unexpected(row.chosen.error());
    calls.push_back({&row.call, &row.chosen->variant});
  }
  return DecoderMemory::of(calls, config, *weights_, combination_.precision);
}

std::vector<Combination> decoder_combinations(const DecoderWords& words) {
  using enum Precision;
  std::vector<Combination> combinations;
  for (const Precision precision : choices(words.precision, {kHigh, kNormal, kLow})) {
    for (const Memory memory : choices(words.memory, {Memory::kLow, Memory::kNormal})) {
      for (const Storage storage : choices(words.weights, {Storage::kBuffer, Storage::kImage})) {
        combinations.push_back({precision, memory, Storage::kBuffer, storage});
      }
    }
  }
  return combinations;
}

Result<DecoderPlan> plan_combination(const DecoderPlanner& planner, const LlmConfig& config,
                                     std::span<const DecoderChoice> choices) {
  DecoderPlan plan{planner.combination(), 0, bytes_of(planner, config), {}, {}};
  CLVET_ASSIGN_OR_RETURN(plan.estimated_ms, estimate(choices));
  CLVET_ASSIGN_OR_RETURN(plan.memory, planner.memory(config, choices));
  const std::string misfit = plan.memory.misfit(planner.features(), first_capacity(kRowsOfAStep));
  if (!misfit.empty()) return fail(ErrorCode::kResourceExhausted, "{}", misfit);
  return plan;
}

Result<DecoderPlan> plan_decoder(const DecoderKernels& kernels, const LlmConfig& config,
                                 const LlmWeights& weights, const DecoderWords& words) {
  std::optional<DecoderPlan> best;
  std::vector<DecoderPlan::Avoided> avoided;
  for (const Combination& combination : decoder_combinations(words)) {
    const DecoderPlanner planner(kernels, combination, weights);
    auto plan = plan_combination(planner, config, planner.choose_all(config));
    if (!plan) {
      avoided.push_back({combination, plan.error().message, bytes_of(planner, config)});
      continue;
    }
    const bool lower = best && combination.precision != best->combination.precision;
    const double needed = best ? best->estimated_ms * (lower ? 2.0 / 3 : 1.0) : 0;
    if (!best || plan->estimated_ms < needed) best = std::move(*plan);
  }
  if (!best) {
    return fail(ErrorCode::kUnavailable, "no combination runs the model: {}",
                avoided.empty() ? "none was asked for" : avoided.front().reason);
  }
  std::erase_if(avoided, [&](const DecoderPlan::Avoided& row) {
    return row.bytes > best->bytes || row.reason.ends_with(to_string(Verdict::kUnsupported));
  });
  std::stable_sort(avoided.begin(), avoided.end(),
                   [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  best->avoided = std::move(avoided);
  return std::move(*best);
}

}  // namespace clvet
