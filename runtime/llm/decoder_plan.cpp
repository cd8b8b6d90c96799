#include "runtime/llm/decoder_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/device_features.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/fused_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/next_token.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

// Of a token whose time is predicted: what attention costs depends on it.
constexpr int64_t kTypicalPosition = 128;
// A device's memory over the part of it that a model may fill with what it could do without.
constexpr int64_t kPartForAll = 2;
// Calls apart are worth more launches where they are predicted to take at most this part of the
// fused call's time: both are predictions, and the times of one probe stray by a fifth.
constexpr double kWorthApart = 0.8;

// Of its matrices.
double elements(const DecoderCall& call) {
  const auto n = call.dims.find("N"), k = call.dims.find("K");
  double sum = 0;
  if (call.matrix().empty()) {
    for (const DecoderCall& part : call.parts) sum += elements(part);
  } else if (k != call.dims.end()) {
    sum = static_cast<double>(n->second) * static_cast<double>(k->second);
  }
  return sum;
}

// The most rows that the head may have in one piece: an image's texel holds four of them side by
// side. 0: any number.
int64_t head_rows_for(const Combination& combination, const DeviceFeatures& features) {
  if (combination.weights != Storage::kImage) return 0;
  return features.image_width * 4 / kColumnAlign * kColumnAlign;
}

// Whether it reads and writes the tensors between calls as they lie in such a plan.
bool stores_alike(const Variant& variant, const Combination& combination) {
  return variant.activations == Storage::kBuffer &&
         stores_half(variant.precision) == stores_half(combination.precision);
}

bool is_q4_0(const DecoderChoice& choice) {
  return choice.chosen && choice.chosen->variant().weight_type == WeightType::kQ4_0;
}

class Builder {
 public:
  Builder(const LlmConfig& config, const Combination& combination, const CostModel& cost)
      : cost_(cost) {
    plan_.combination = combination;
    plan_.phases = {{kTokenPhase, {}, {}, 0}, {kPromptPhase, {}, {}, 0}};
    for (const DecoderBuffer& buffer : decoder_buffers(config)) {
      if (buffer.name == kLogits) continue;
      const auto rows = buffer.cache ? TensorRows::kOfText : TensorRows::kOfStep;
      add_tensor(buffer.name,
                 buffer_role(buffer, buffer.cache ? first_capacity(kRowsOfAStep) : kRowsOfAStep),
                 rows);
    }
  }

  Status add(const DecoderChoice& choice) {
    const auto& [call, answer, chosen] = choice;
    if (!chosen) return tl::unexpected(chosen.error());
    PlanPhase& phase = plan_.phases[answer ? 0 : 1];
    PlanStep step;
    step.kind = StepKind::kKernel;
    step.node = static_cast<int>(phase.nodes.size());
    step.variant = chosen->row->name;
    step.op = call.op;
    step.dims = call.dims;
    step.scalars = call.scalars;
    step.ms = chosen->ms;
    for (const CallArg& arg : chosen->call.args) CLVET_RETURN_IF_ERROR(add_arg(call, arg, step));
    const double alone = chosen->ms > 0 ? chosen->ms + cost_.node_launch_ms() : 0;
    phase.nodes.push_back({call.name, call.op, Place::kDevice, {}, alone});
    phase.ms += chosen->ms + chosen->launch_ms;
    phase.steps.push_back(std::move(step));
    return {};
  }

  ExecutionPlan take() { return std::move(plan_); }

 private:
  static constexpr const char* kLogits = "logits";

  int add_tensor(const std::string& name, const TensorRole& role, TensorRows rows) {
    DeviceTensor tensor;
    tensor.value = name;
    tensor.extent = {role.n, role.h, role.w, role.c};
    tensor.shape = {role.h, role.c};
    tensor.view = View::kChannelsLast;
    tensor.half = stores_half(plan_.combination.precision);
    tensor.rows = rows;
    plan_.tensors.push_back(std::move(tensor));
    return tensors_[name] = static_cast<int>(plan_.tensors.size()) - 1;
  }

  // Those of all layers, of which each layer's own is a part.
  void add_caches(const std::string& name, int64_t layers) {
    TensorRole role =
        role_of(plan_.tensors[static_cast<size_t>(tensors_.find(of_layer(name, 0))->second)]);
    role.n = layers;
    add_tensor(name, role, TensorRows::kOfText);
    plan_.tensors.back().shape = {layers, role.h, role.c};
  }

  int constant(const ConstantRecipe& recipe) {
    const auto [found, added] =
        constants_.try_emplace(recipe, static_cast<int>(plan_.constants.size()));
    if (added) plan_.constants.push_back(recipe);
    return found->second;
  }

  Status add_arg(const DecoderCall& call, const CallArg& arg, PlanStep& step) {
    if (arg.kind == ArgKind::kInt || arg.kind == ArgKind::kFloat) return {};
    if (arg.kind == ArgKind::kState) return {};
    const auto name = call.tensors.find(arg.name);
    if (name == call.tensors.end()) {
      return fail(ErrorCode::kInternal, "the call of {} has no tensor for '{}'", call.op, arg.name);
    }
    if (arg.kind == ArgKind::kWeights || arg.kind == ArgKind::kScales) {
      step.constants[arg.name] = constant({ConstantSource::kMatrix, -1, name->second, call.first});
      return {};
    }
    if (arg.kind == ArgKind::kVector) {
      step.constants[arg.name] = constant({ConstantSource::kVector, -1, name->second, 0});
      return {};
    }
    if (name->second == kLogits) {
      step.tensors[arg.name] = add_tensor(fmt::format("{}.{}", kLogits, call.first),
                                          logits_role(call.dims.at("N")), TensorRows::kFixed);
      return {};
    }
    auto tensor = tensors_.find(name->second);
    if (tensor == tensors_.end() && is_of_all_layers(name->second)) {
      add_caches(name->second, call.dims.at("L"));
      tensor = tensors_.find(name->second);
    }
    if (tensor == tensors_.end()) {
      return fail(ErrorCode::kInternal, "the plan has no buffer '{}'", name->second);
    }
    step.tensors[arg.name] = tensor->second;
    return {};
  }

  const CostModel& cost_;
  ExecutionPlan plan_;
  std::map<std::string, int, std::less<>> tensors_;
  std::map<ConstantRecipe, int> constants_;
};

}  // namespace

std::optional<WeightType> DecoderPlanner::type_of(const Combination& combination, Blocks blocks,
                                                  const DecoderCall& call) const {
  std::optional<WeightType> type;
  for (const std::string& matrix : call.matrices()) {
    const WeightType own = type_of(combination, blocks, matrix);
    if (type && *type != own) return std::nullopt;
    type = own;
  }
  return type ? type : WeightType::kFloat;
}

WeightType DecoderPlanner::type_of(const Combination& combination, Blocks blocks,
                                   const std::string& matrix) const {
  if (combination.memory != Memory::kLow) return WeightType::kFloat;
  const bool as_in_file = blocks == Blocks::kOfFile && weights_.is_q4_0(matrix).value_or(false);
  if (as_in_file) return WeightType::kQ4_0;
  return weights_.type_of(matrix).value_or(WeightType::kFloat);
}

std::vector<DecoderCall> DecoderPlanner::calls(const Combination& combination, bool answer) const {
  const int64_t head_rows = head_rows_for(combination, chooser_.features());
  if (!answer) return decoder_calls(config_, kPromptRows, kPromptRows, false, head_rows);
  std::vector<DecoderCall> calls = decoder_calls(config_, 1, 2 * kTypicalPosition, true, head_rows);
  for (DecoderCall& call : calls) {
    if (const auto position = call.dims.find("P"); position != call.dims.end())
      position->second = kTypicalPosition;
  }
  return calls;
}

Result<ChosenVariant> DecoderPlanner::choose(const Combination& combination, Blocks blocks,
                                             const DecoderCall& call) const {
  const std::optional<WeightType> known = type_of(combination, blocks, call);
  if (!known) {
    return fail(ErrorCode::kUnavailable, "'{}': its matrices are of several types", call.name);
  }
  const WeightType type = *known;
  CLVET_ASSIGN_OR_RETURN(ChosenVariant chosen,
                         chooser_.choose({call.op, call.dims, call.scalars, combination, type}));
  const Precision precision = chosen.variant().precision;
  const bool alike = stores_half(precision) == stores_half(combination.precision);
  // The plan must match the requested combination.
  const bool as_asked = precision == combination.precision || call.matrices().empty();
  if (!alike || !as_asked) {
    return tl::unexpected(refusal(chosen.instead_of, chosen.verdict, chosen.why));
  }
  // Trials find a matrix in the device's caches; a token finds the whole model's in memory.
  const double cold = chooser_.cost().cold_ms(elements(call) * bytes_a_weight(precision, type));
  if (chosen.ms > 0 && cold > chosen.ms) {
    const double empty_ms = chooser_.cost().piped_ms({}, 0);
    const double hidden_ms = CostModel::hidden_ms(cold - chosen.ms);
    chosen.launch_ms = std::max(chosen.launch_ms - hidden_ms, std::min(chosen.launch_ms, empty_ms));
    chosen.ms = cold;
  }
  return chosen;
}

bool DecoderPlanner::takes_fused(const Combination& combination, Blocks blocks,
                                 const DecoderCall& fused) const {
  const auto whole = choose(combination, blocks, fused);
  if (!whole) return false;
  if (!fused.matrices().empty() && whole->variant().weights != combination.weights) return false;
  const int64_t positions = std::max(config_.context, first_capacity(kRowsOfAStep));
  if (!lie_together(fused, whole->variant(), chooser_.features(), positions)) return false;
  // Apart, some of them may still be one.
  const auto smaller = [&](const DecoderCall& some, size_t) {
    return some.parts.size() < fused.parts.size() && takes_fused(combination, blocks, some);
  };
  double apart_ms = 0;
  for (const DecoderCall& part : fuse(fused.parts, smaller)) {
    const auto chosen = choose(combination, blocks, part);
    if (!chosen || chosen->ms == 0) return true;
    apart_ms += chosen->ms + chosen->launch_ms;
  }
  return whole->ms > 0 && kWorthApart * (whole->ms + whole->launch_ms) <= apart_ms;
}

PlannedDecoder DecoderPlanner::planned(const Combination& combination) const {
  const auto planned_as = [&](Blocks blocks) -> PlannedDecoder {
    auto choices = choose_all(combination, blocks);
    auto plan = plan_for(combination, choices);
    return {std::move(choices), std::move(plan)};
  };
  PlannedDecoder planned = planned_as(Blocks::kWithOffsets);
  const auto& choices = planned.choices;
  const bool differ = std::any_of(choices.begin(), choices.end(), [&](const DecoderChoice& row) {
    return type_of(combination, Blocks::kOfFile, row.call) == WeightType::kQ4_0;
  });
  if (!differ) return planned;
  PlannedDecoder kept = planned_as(Blocks::kOfFile);
  const bool takes = kept.plan && (!planned.plan || is_about_as_fast(*kept.plan, *planned.plan));
  return takes ? kept : planned;
}

std::vector<DecoderChoice> DecoderPlanner::choose_all(const Combination& combination,
                                                      Blocks blocks) const {
  std::vector<DecoderChoice> choices;
  for (const bool answer : {true, false}) {
    const auto takes = [&](const DecoderCall& fused, size_t) {
      return takes_fused(combination, blocks, fused);
    };
    for (DecoderCall& call : fuse(calls(combination, answer), takes)) {
      auto chosen = choose(combination, blocks, call);
      choices.push_back({std::move(call), answer, std::move(chosen)});
    }
  }
  return choices;
}

Result<DecoderMemory> DecoderPlanner::memory(const Combination& combination,
                                             std::span<const DecoderChoice> choices) const {
  std::vector<PlannedCall> planned;
  for (const DecoderChoice& row : choices) {
    if (!row.chosen) return tl::unexpected(row.chosen.error());
    planned.push_back({&row.call, &row.chosen->variant()});
  }
  return DecoderMemory::of(planned, config_, weights_, combination.precision);
}

double DecoderPlanner::bytes_of(const Combination& combination, Blocks blocks) const {
  double bytes = 0;
  for (const DecoderCall& call : calls(combination, true)) {
    const WeightType type = type_of(combination, blocks, call).value_or(WeightType::kFloat);
    bytes += elements(call) * bytes_a_weight(combination.precision, type);
  }
  return bytes;
}

Result<ExecutionPlan> DecoderPlanner::plan_for(const Combination& combination,
                                               std::span<const DecoderChoice> choices) const {
  Builder builder(config_, combination, chooser_.cost());
  for (const DecoderChoice& choice : choices) CLVET_RETURN_IF_ERROR(builder.add(choice));
  CLVET_ASSIGN_OR_RETURN(const DecoderMemory needed, memory(combination, choices));
  const std::string misfit = needed.misfit(chooser_.features(), first_capacity(kRowsOfAStep));
  if (!misfit.empty()) return fail(ErrorCode::kResourceExhausted, "{}", misfit);
  ExecutionPlan plan = builder.take();
  const bool as_in_file = std::any_of(choices.begin(), choices.end(), is_q4_0);
  plan.bytes = bytes_of(combination, as_in_file ? Blocks::kOfFile : Blocks::kWithOffsets);
  plan.next_token = next_token_of(combination, needed);
  return plan;
}

// A device that works in the host's memory has the less of it for anything else, and is asked
// without much delay.
std::string DecoderPlanner::next_token_of(const Combination& combination,
                                          const DecoderMemory& needs) const {
  const DeviceFeatures& features = chooser_.features();
  const int64_t table = next_token_bytes(config_);
  const int64_t all = table + needs.bytes(first_capacity(kRowsOfAStep));
  const bool has_room = features.own_memory && all <= features.memory / kPartForAll &&
                        (features.largest_buffer == 0 || table <= features.largest_buffer);
  const int64_t head_rows = head_rows_for(combination, features);
  const bool whole = head_rows == 0 || head_rows >= config_.vocab;
  if (!has_room || !whole || combination.precision != Precision::kHigh) return {};
  const auto chosen =
      chooser_.choose({kNextToken, next_token_dims(config_), {}, combination, WeightType::kFloat});
  const bool fits = chosen && chosen->variant().precision == Precision::kHigh &&
                    chosen->variant().activations == Storage::kBuffer;
  return fits ? chosen->row->name : "";
}

Result<ExecutionPlan> DecoderPlanner::plan(const PlanOverrides& words) const {
  const auto plan_one = [&](const Combination& combination) -> Result<ExecutionPlan> {
    const bool half = combination.precision != Precision::kHigh;
    if (half && config_.exceeds_half && config_.residual_scale == 1 && !words.precision) {
      return fail(ErrorCode::kUnsupported,
                  "values of this architecture exceed the range of half precision");
    }
    return planned(combination).plan;
  };
  CLVET_ASSIGN_OR_RETURN(ExecutionPlan best,
                         best_plan(decoder_combinations(words), plan_one, words));
  for (RefusedCombination& row : best.refused) {
    if (!row.runs) row.bytes = bytes_of(row.combination, Blocks::kOfFile);
  }
  return best;
}

std::vector<DecoderChoice> DecoderPlanner::choices_of(const ExecutionPlan& plan) const {
  std::vector<DecoderChoice> choices;
  for (const bool answer : {true, false}) {
    const PlanPhase& phase = plan.phases[answer ? 0 : 1];
    const auto& steps = phase.steps;
    size_t next = 0;
    for (DecoderCall& call : calls_in(phase, calls(plan.combination, answer))) {
      const std::string name = next < steps.size() ? steps[next++].variant : "";
      const auto type = [&](Blocks blocks) {
        return type_of(plan.combination, blocks, call).value_or(WeightType::kFloat);
      };
      WantedCall wanted{call.op, call.dims, call.scalars, plan.combination, type(Blocks::kOfFile)};
      Result<ChosenVariant> chosen = chooser_.choose_named(wanted, name);
      if (!chosen) {
        wanted.type = type(Blocks::kWithOffsets);
        chosen = chooser_.choose_named(wanted, name);
      }
      if (chosen && !stores_alike(chosen->variant(), plan.combination)) {
        chosen = fail(ErrorCode::kInvalidArgument,
                      "kernel {} stores tensors in another way than the plan", name);
      }
      if (!chosen) {
        chosen = fail(ErrorCode::kInvalidArgument, "'{}': {}", call.name, chosen.error().message);
      }
      choices.push_back({std::move(call), answer, std::move(chosen)});
    }
  }
  return choices;
}

Status DecoderPlanner::check(const ExecutionPlan& plan) const {
  if (plan.phases.size() != 2) {
    return fail(ErrorCode::kInvalidArgument,
                "the plan does not have the two phases that a language model needs");
  }
  CLVET_ASSIGN_OR_RETURN(const ExecutionPlan made, plan_for(plan.combination, choices_of(plan)));
  const std::string where = first_difference(made, plan);
  if (where.empty()) return {};
  return fail(ErrorCode::kInvalidArgument, "the plan contradicts its own kernel variants: {}",
              where);
}

std::vector<Combination> decoder_combinations(const PlanOverrides& words) {
  return combinations_of(words, {.quantised_weights = true});
}

std::vector<RefusedCombination> avoided_by(const ExecutionPlan& plan) {
  std::vector<RefusedCombination> avoided;
  for (const RefusedCombination& row : plan.refused) {
    if (!row.runs && row.bytes <= plan.bytes && !row.unsupported) avoided.push_back(row);
  }
  std::stable_sort(avoided.begin(), avoided.end(),
                   [](const auto& a, const auto& b) { return a.bytes < b.bytes; });
  return avoided;
}

std::vector<DecoderCall> calls_in(const PlanPhase& phase, std::vector<DecoderCall> calls) {
  return fuse(std::move(calls), [&](const DecoderCall& fused, size_t place) {
    if (place >= phase.steps.size() || phase.steps[place].op != fused.op) return false;
    // A plan's caches have another length than a text's, and its token another position.
    Dims planned = phase.steps[place].dims, dims = fused.dims;
    for (const char* name : {"cap", "P"}) planned.erase(name), dims.erase(name);
    return planned == dims;
  });
}

int64_t head_rows_of(const ExecutionPlan& plan) {
  int64_t first = 0;
  int parts = 0;
  for (const DeviceTensor& tensor : plan.tensors) {
    if (tensor.rows != TensorRows::kFixed) continue;
    if (parts++ == 0) first = tensor.extent.c;
  }
  return parts > 1 ? first : 0;
}

}  // namespace clvet
