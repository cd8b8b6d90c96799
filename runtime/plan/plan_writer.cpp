// The half of the codec that writes. Without JSON_DIAGNOSTICS, which makes another type of what
// combination_json() returns.
#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "runtime/ops/contract/view.h"
#include "runtime/plan/combination_json.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_json.h"
#include "runtime/plan/plan_words.h"

namespace clvet {
namespace {

using namespace plan_words;
using Json = nlohmann::ordered_json;

template <size_t N, class E>
Json word(const std::array<const char*, N>& words, E value) {
  return words[static_cast<size_t>(value)];
}

// JSON has no infinity: activations without a bound have words.
Json put_number(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

// 0 stands for what was not predicted.
Json put_ms(double ms) { return ms > 0 ? Json(ms) : Json(nullptr); }

Json put(const View& view, size_t rank) {
  if (view == View::kChannelsFirst) return "channels-first";
  if (view == View::kChannelsLast) return "channels-last";
  return view.order(rank);
}

Json put(const PlannedNode& node) {
  Json json = {{"name", node.name},
               {"op", node.op},
               {"where", word(kPlaces, node.place)},
               {"predicted_ms", put_ms(node.ms)}};
  if (!node.reason.empty()) json["reason"] = node.reason;
  if (node.untested) json["untested"] = true;
  return json;
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

Json put(const ConstantRecipe& recipe) {
  Json json = {{"from", word(kSources, recipe.source)}};
  if (recipe.source == ConstantSource::kZeros) return json;
  if (recipe.source == ConstantSource::kNode) json["node"] = recipe.node;
  json["name"] = recipe.name;
  json["part"] = recipe.part;
  return json;
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

Json put(const PlanPhase& phase) {
  Json nodes = Json::array(), steps = Json::array();
  for (const PlannedNode& node : phase.nodes) nodes.push_back(put(node));
  for (const PlanStep& step : phase.steps) steps.push_back(put(step));
  return {{"name", phase.name},
          {"predicted_ms", put_ms(phase.ms)},
          {"nodes", std::move(nodes)},
          {"steps", std::move(steps)}};
}

Json put(const Fallback& row) {
  return {{"node", row.node}, {"from", row.from}, {"to", row.to}, {"verdict", row.verdict}};
}

Json put(const RefusedCombination& row) {
  Json json = {{"combination", combination_json(row.combination)},
               {"reason", row.reason},
               {"runs", row.runs},
               {"predicted_ms", put_ms(row.ms)},
               {"bytes", row.bytes}};
  if (row.unsupported) json["unsupported"] = true;
  return json;
}

Json put(const RaisedEvidence& raised) {
  return {
      {"nodes", raised.nodes},
      {"target", raised.target},
      {"chosen_on", raised.chosen_on},
      {"held_out", raised.held_out},
      {"measured_ms", {{"low", raised.low_ms}, {"raised", raised.ms}, {"high", raised.high_ms}}}};
}

template <class Row>
Json list(const std::vector<Row>& rows) {
  Json json = Json::array();
  for (const Row& row : rows) json.push_back(put(row));
  return json;
}

}  // namespace

std::string plan_to_json(const ExecutionPlan& plan) {
  Json json = {{"schema", kSchema},
               {"subject", put(plan.subject)},
               {"combination", combination_json(plan.combination)},
               {"bytes", plan.bytes},
               {"fallbacks", list(plan.fallbacks)},
               {"refused", list(plan.refused)},
               {"phases", list(plan.phases)},
               {"tensors", list(plan.tensors)},
               {"slot_bytes", plan.slot_bytes},
               {"constants", list(plan.constants)}};
  if (plan.residual_scale != 1) json["residual_scale"] = plan.residual_scale;
  if (!plan.next_token.empty()) json["next_token"] = plan.next_token;
  if (plan.raised) json["raised"] = put(*plan.raised);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
