#define JSON_DIAGNOSTICS 1
#include "runtime/plan/plan_json.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "runtime/plan/combination_json.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kSchema = "clvet.plan/1";

// The words of an enumeration, in its order.
constexpr std::array kPlaces = {"host", "opencl", "alias"};
constexpr std::array kRows = {"fixed", "of-step", "of-text"};
constexpr std::array kSources = {"zeros", "node", "matrix", "vector"};
constexpr std::array kSteps = {"upload", "download", "kernel", "host"};
constexpr std::array kStorages = {"buffer", "image"};

template <size_t N, class E>
Json word(const std::array<const char*, N>& words, E value) {
  return words[static_cast<size_t>(value)];
}

// Every reader below throws on a fault; plan_from_json stops it.
template <class E, size_t N>
E get_word(const std::array<const char*, N>& words, const Json& json) {
  const auto text = json.get<std::string>();
  for (size_t i = 0; i < N; ++i) {
    if (text == words[i]) return static_cast<E>(i);
  }
  throw std::invalid_argument(fmt::format("'{}' is none of {}", text, fmt::join(words, ", ")));
}

// JSON has no infinity: activations without a bound have words.
Json put_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

double get_real(const Json& json) {
  if (!json.is_number()) throw std::invalid_argument(json.dump() + " is no number");
  return json.get<double>();
}

double get_number(const Json& json) {
  if (!json.is_string()) return get_real(json);
  const auto text = json.get<std::string>();
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  throw std::invalid_argument(fmt::format("'{}' is no number", text));
}

// 0 stands for what was not predicted.
Json put_ms(double ms) { return ms > 0 ? Json(ms) : Json(nullptr); }
double get_ms(const Json& json) { return json.is_null() ? 0 : get_real(json); }

// The library would cut off what does not fit.
template <class T>
T get_integer(const Json& json) {
  const bool fits = json.is_number_unsigned()  ? std::in_range<T>(json.get<uint64_t>())
                    : json.is_number_integer() ? std::in_range<T>(json.get<int64_t>())
                                               : false;
  if (!fits) throw std::invalid_argument(json.dump() + " is no whole number that is possible here");
  return json.get<T>();
}

std::vector<int64_t> get_integers(const Json& json) {
  if (!json.is_array()) throw std::invalid_argument(json.dump() + " is no list of whole numbers");
  std::vector<int64_t> values;
  for (const Json& value : json) values.push_back(get_integer<int64_t>(value));
  return values;
}

template <class T>
T get_optional_word(const Json& json, T (*parse)(std::string_view)) {
  if (json.is_null()) return std::nullopt;
  const auto text = json.get<std::string>();
  const T value = parse(text);
  if (!value) throw std::invalid_argument(fmt::format("'{}' is no word of a combination", text));
  return value;
}

Combination get_combination(const Json& json) {
  const auto precision = get_optional_word(json.at("precision"), parse_precision);
  const auto activations = get_optional_word(json.at("activations"), parse_storage);
  if (!precision || !activations) {
    throw std::invalid_argument("a combination has a precision and a storage of activations");
  }
  return {*precision, get_optional_word(json.at("memory"), parse_memory), *activations,
          get_optional_word(json.at("weights"), parse_storage)};
}

Json put(const View& view, size_t rank) {
  if (view == View::kChannelsFirst) return "channels-first";
  if (view == View::kChannelsLast) return "channels-last";
  return view.order(rank);
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
    if (!fits) throw std::invalid_argument("an order of axes is a permutation of at most 8");
    seen[static_cast<size_t>(axis)] = true;
  }
  return View::of(order);
}

Json put(const PlannedNode& node) {
  Json json = {{"name", node.name},
               {"op", node.op},
               {"where", word(kPlaces, node.place)},
               {"predicted_ms", put_ms(node.ms)}};
  if (!node.reason.empty()) json["reason"] = node.reason;
  return json;
}

PlannedNode get_node(const Json& json) {
  return {json.at("name"), json.at("op"), get_word<Place>(kPlaces, json.at("where")),
          json.value("reason", ""), get_ms(json.at("predicted_ms"))};
}

Json put(const PlanStep& step) {
  Json json = {{"kind", word(kSteps, step.kind)}};
  if (step.kind == StepKind::kKernel || step.kind == StepKind::kHost) {
    json["node"] = step.node >= 0 ? Json(step.node) : Json(nullptr);
  } else {
    json["tensor"] = step.tensor;
  }
  if (step.kind == StepKind::kKernel) {
    json["variant"] = step.variant;
    json["op"] = step.op;
    json["dims"] = step.dims;
    json["scalars"] = Json::object();
    for (const auto& [name, value] : step.scalars) json["scalars"][name] = put_number(value);
    json["tensors"] = step.tensors;
    json["constants"] = step.constants;
  }
  json["predicted_ms"] = put_ms(step.ms);
  return json;
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
  for (const auto& [name, value] : json.at("dims").items()) {
    step.dims[name] = get_integer<int64_t>(value);
  }
  for (const auto& [name, value] : json.at("scalars").items()) {
    step.scalars[name] = get_number(value);
  }
  for (const auto& [name, value] : json.at("tensors").items()) {
    step.tensors[name] = get_integer<int>(value);
  }
  for (const auto& [name, value] : json.at("constants").items()) {
    step.constants[name] = get_integer<int>(value);
  }
  return step;
}

Json put(const DeviceTensor& tensor) {
  const Nhwc& extent = tensor.extent;
  return {{"value", tensor.value},
          {"shape", tensor.shape},
          {"extent", {extent.n, extent.h, extent.w, extent.c}},
          {"row_numbers", tensor.row_numbers},
          {"order", put(tensor.view, tensor.shape.size())},
          {"storage", word(kStorages, tensor.storage)},
          {"half", tensor.half},
          {"rows", word(kRows, tensor.rows)},
          {"slot", tensor.slot},
          {"alias", tensor.alias},
          {"constant", tensor.constant}};
}

DeviceTensor get_tensor(const Json& json) {
  DeviceTensor tensor;
  tensor.value = json.at("value");
  tensor.shape = get_integers(json.at("shape"));
  const auto extent = get_integers(json.at("extent"));
  if (extent.size() != 4) throw std::invalid_argument("an extent has four numbers");
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

Json put(const ConstantRecipe& recipe) {
  Json json = {{"from", word(kSources, recipe.source)}};
  if (recipe.source == ConstantSource::kZeros) return json;
  if (recipe.source == ConstantSource::kNode) json["node"] = recipe.node;
  json["name"] = recipe.name;
  json["part"] = recipe.part;
  return json;
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

Json put(const PlanSubject& subject) {
  Json inputs = Json::object(), given = Json::object();
  for (const auto& [name, shape] : subject.inputs) inputs[name] = shape;
  for (const auto& [name, hash] : subject.given) given[name] = hash;
  return {{"format", subject.format},
          {"sha256", subject.model},
          {"inputs", inputs},
          {"given", given},
          {"device", subject.device},
          {"environment_key", subject.environment_key},
          {"kernel_set", subject.kernel_set}};
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

Json put(const PlanPhase& phase) {
  Json nodes = Json::array(), steps = Json::array();
  for (const PlannedNode& node : phase.nodes) nodes.push_back(put(node));
  for (const PlanStep& step : phase.steps) steps.push_back(put(step));
  return {{"name", phase.name},
          {"predicted_ms", put_ms(phase.ms)},
          {"nodes", std::move(nodes)},
          {"steps", std::move(steps)}};
}

PlanPhase get_phase(const Json& json) {
  PlanPhase phase;
  phase.name = json.at("name");
  phase.ms = get_ms(json.at("predicted_ms"));
  for (const Json& row : json.at("nodes")) phase.nodes.push_back(get_node(row));
  for (const Json& row : json.at("steps")) phase.steps.push_back(get_step(row));
  return phase;
}

Json put(const Fallback& row) {
  return {{"node", row.node}, {"from", row.from}, {"to", row.to}, {"verdict", row.verdict}};
}

Json put(const RefusedCombination& row) {
  return {{"combination", combination_json(row.combination)},
          {"reason", row.reason},
          {"runs", row.runs},
          {"predicted_ms", put_ms(row.ms)},
          {"bytes", row.bytes}};
}

ExecutionPlan get_plan(const Json& json) {
  if (json.at("schema") != kSchema) throw std::invalid_argument("not a document clvet.plan/1");
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
                            get_real(row.at("bytes"))});
  }
  plan.bytes = get_real(json.at("bytes"));
  return plan;
}

template <class Row>
Json list(const std::vector<Row>& rows) {
  Json json = Json::array();
  for (const Row& row : rows) json.push_back(put(row));
  return json;
}

}  // namespace

std::string plan_to_json(const ExecutionPlan& plan) {
  const Json json = {{"schema", kSchema},
                     {"subject", put(plan.subject)},
                     {"combination", combination_json(plan.combination)},
                     {"bytes", plan.bytes},
                     {"fallbacks", list(plan.fallbacks)},
                     {"refused", list(plan.refused)},
                     {"phases", list(plan.phases)},
                     {"tensors", list(plan.tensors)},
                     {"slot_bytes", plan.slot_bytes},
                     {"constants", list(plan.constants)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<ExecutionPlan> plan_from_json(const std::string& text, const std::string& source) {
  try {
    return get_plan(Json::parse(text));
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: no plan that can be read: {}", source,
                one_line(error.what()));
  }
}

}  // namespace clvet
