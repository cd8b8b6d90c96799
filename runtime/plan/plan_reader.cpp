// The half of the codec that reads.
#define JSON_DIAGNOSTICS 1
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/ranges.h>

#include "base/json.h"
#include "base/result.h"
#include "base/text.h"
#include "kernels/combination.h"
#include "runtime/ops/contract/view.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_json.h"
#include "runtime/plan/plan_words.h"

namespace clvet {
namespace {

using namespace plan_words;
using Json = nlohmann::json;

// Every reader below throws on a fault; plan_from_json stops it.
template <class E, size_t N>
E get_word(const std::array<const char*, N>& words, const Json& json) {
  const auto text = json.get<std::string>();
  for (size_t i = 0; i < N; ++i) {
    if (text == words[i]) return static_cast<E>(i);
  }
  throw std::invalid_argument(fmt::format("'{}' is not one of {}", text, fmt::join(words, ", ")));
}

double get_real(const Json& json) {
  if (!json.is_number())
    throw std::invalid_argument(fmt::format("{} is not a number", json.dump()));
  return json.get<double>();
}

double get_number(const Json& json) {
  if (!json.is_string()) return get_real(json);
  const auto text = json.get<std::string>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw std::invalid_argument(fmt::format("{} is not a number", json.dump()));
}

double get_ms(const Json& json) { return json.is_null() ? 0 : get_real(json); }

// The library would cut off what does not fit.
template <class T>
T get_integer(const Json& json) {
  const bool fits = json.is_number_unsigned()  ? std::in_range<T>(json.get<uint64_t>())
                    : json.is_number_integer() ? std::in_range<T>(json.get<int64_t>())
                                               : false;
  if (!fits)
    throw std::invalid_argument(
        fmt::format("{} is not a whole number that is possible here", json.dump()));
  return json.get<T>();
}

std::vector<int64_t> get_integers(const Json& json) {
  if (!json.is_array())
    throw std::invalid_argument(fmt::format("{} is not a list of whole numbers", json.dump()));
  std::vector<int64_t> values;
  for (const Json& value : json) values.push_back(get_integer<int64_t>(value));
  return values;
}

template <class T>
T get_optional_word(const Json& json, T (*parse)(std::string_view)) {
  if (json.is_null()) return std::nullopt;
  const auto text = json.get<std::string>();
  const T value = parse(text);
  if (!value) throw std::invalid_argument(fmt::format("'{}' is not a word of a combination", text));
  return value;
}

Combination get_combination(const Json& json) {
  const auto precision = get_optional_word(json.at("precision"), parse_precision);
  const auto activations = get_optional_word(json.at("activations"), parse_storage);
  if (!precision || !activations) {
    throw std::invalid_argument("a combination must have a precision and a storage of activations");
  }
  return {*precision, get_optional_word(json.at("memory"), parse_memory), *activations,
          get_optional_word(json.at("weights"), parse_storage)};
}

View get_view(const Json& json) {
  if (json.is_string()) {
    enum class Word { kFirst, kLast };
    constexpr std::array kWords = {"channels-first", "channels-last"};
    return get_word<Word>(kWords, json) == Word::kFirst ? View::kChannelsFirst
                                                        : View::kChannelsLast;
  }
  const auto order = get_integers(json);
  std::vector<bool> seen(order.size(), false);
  for (const int64_t axis : order) {
    const bool fits = axis >= 0 && axis < static_cast<int64_t>(order.size()) &&
                      order.size() <= kMaxViewRank && !seen[static_cast<size_t>(axis)];
    if (!fits)
      throw std::invalid_argument("an order of axes must be a permutation of at most 8 axes");
    seen[static_cast<size_t>(axis)] = true;
  }
  return View::of(order);
}

PlannedNode get_node(const Json& json) {
  return {json.at("name"),
          json.at("op"),
          get_word<Place>(kPlaces, json.at("where")),
          json.value("reason", ""),
          get_ms(json.at("predicted_ms")),
          json.value("untested", false)};
}

template <class T, class Map>
void get_by_name(const Json& json, T (*get)(const Json&), Map& values) {
  for (const auto& [name, value] : json.items()) values[name] = get(value);
}

PlanStep get_step(const Json& json) {
  PlanStep step;
  step.kind = get_word<StepKind>(kSteps, json.at("kind"));
  step.ms = get_ms(json.at("predicted_ms"));
  if (step.kind == StepKind::kUpload || step.kind == StepKind::kDownload) {
    step.tensor = get_integer<int>(json.at("tensor"));
    return step;
  }
  step.node = json.at("node").is_null() ? -1 : get_integer<int>(json.at("node"));
  if (step.kind == StepKind::kHost) return step;
  step.variant = json.at("variant");
  step.op = json.at("op");
  get_by_name(json.at("dims"), get_integer<int64_t>, step.dims);
  get_by_name(json.at("scalars"), get_number, step.scalars);
  get_by_name(json.at("tensors"), get_integer<int>, step.tensors);
  get_by_name(json.at("constants"), get_integer<int>, step.constants);
  return step;
}

DeviceTensor get_tensor(const Json& json) {
  DeviceTensor tensor;
  tensor.value = json.at("value");
  tensor.shape = get_integers(json.at("shape"));
  const auto extent = get_integers(json.at("extent"));
  if (extent.size() != 4) throw std::invalid_argument("an extent must have four numbers");
  tensor.extent = {extent[0], extent[1], extent[2], extent[3]};
  tensor.row_numbers = get_integer<int64_t>(json.at("row_numbers"));
  tensor.view = get_view(json.at("order"));
  tensor.storage = get_word<Storage>(kStorages, json.at("storage"));
  tensor.half = json.at("half");
  tensor.rows = get_word<TensorRows>(kRows, json.at("rows"));
  tensor.slot = get_integer<int>(json.at("slot"));
  tensor.alias = get_integer<int>(json.at("alias"));
  tensor.constant = json.at("constant");
  return tensor;
}

ConstantRecipe get_recipe(const Json& json) {
  ConstantRecipe recipe;
  recipe.source = get_word<ConstantSource>(kSources, json.at("from"));
  if (recipe.source == ConstantSource::kZeros) return recipe;
  if (recipe.source == ConstantSource::kNode) recipe.node = get_integer<int>(json.at("node"));
  recipe.name = json.at("name");
  recipe.part = get_integer<int64_t>(json.at("part"));
  return recipe;
}

PlanSubject get_subject(const Json& json) {
  PlanSubject subject;
  subject.format = json.at("format");
  subject.model = json.at("sha256");
  for (const auto& [name, shape] : json.at("inputs").items()) {
    subject.inputs[name] = get_integers(shape);
  }
  for (const auto& [name, hash] : json.at("given").items()) subject.given[name] = hash;
  subject.device = json.at("device");
  subject.environment_key = json.at("environment_key");
  subject.kernel_set = json.at("kernel_set");
  return subject;
}

PlanPhase get_phase(const Json& json) {
  PlanPhase phase;
  phase.name = json.at("name");
  phase.ms = get_ms(json.at("predicted_ms"));
  for (const Json& row : json.at("nodes")) phase.nodes.push_back(get_node(row));
  for (const Json& row : json.at("steps")) phase.steps.push_back(get_step(row));
  return phase;
}

RaisedEvidence get_raised(const Json& json) {
  RaisedEvidence raised;
  for (const Json& node : json.at("nodes")) raised.nodes.push_back(node);
  raised.target = get_real(json.at("target"));
  raised.chosen_on = get_integer<int>(json.at("chosen_on"));
  raised.held_out = get_integer<int>(json.at("held_out"));
  const Json& measured = json.at("measured_ms");
  raised.low_ms = get_real(measured.at("low"));
  raised.ms = get_real(measured.at("raised"));
  raised.high_ms = get_real(measured.at("high"));
  return raised;
}

ExecutionPlan get_plan(const Json& json) {
  if (json.at("schema") != kSchema)
    throw std::invalid_argument("it is not a clvet.plan/1 document");
  ExecutionPlan plan;
  plan.subject = get_subject(json.at("subject"));
  plan.combination = get_combination(json.at("combination"));
  for (const Json& row : json.at("phases")) plan.phases.push_back(get_phase(row));
  for (const Json& row : json.at("tensors")) plan.tensors.push_back(get_tensor(row));
  plan.slot_bytes = get_integers(json.at("slot_bytes"));
  for (const Json& row : json.at("constants")) plan.constants.push_back(get_recipe(row));
  for (const Json& row : json.at("fallbacks")) {
    plan.fallbacks.push_back({row.at("node"), row.at("from"), row.at("to"), row.at("verdict")});
  }
  for (const Json& row : json.at("refused")) {
    plan.refused.push_back({get_combination(row.at("combination")), row.at("reason"),
                            row.at("runs"), get_ms(row.at("predicted_ms")),
                            get_real(row.at("bytes")), row.value("unsupported", false)});
  }
  plan.bytes = get_real(json.at("bytes"));
  if (json.contains("residual_scale")) plan.residual_scale = get_real(json.at("residual_scale"));
  plan.next_token = json.value("next_token", "");
  if (json.contains("raised")) plan.raised = get_raised(json.at("raised"));
  return plan;
}

}  // namespace

Result<ExecutionPlan> plan_from_json(const std::string& text, const std::string& source) {
  try {
    return get_plan(Json::parse(text));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: this plan cannot be read: {}", source,
                one_line(error.what()));
  }
}

}  // namespace clvet
