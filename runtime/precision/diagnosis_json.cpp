#include <array>
#include <cmath>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "runtime/graph/output_sign.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/contrast.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/engine_advice.h"
#include "runtime/precision/float_fault.h"
#include "runtime/precision/normalise.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/value_range.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

// JSON has no infinities.
// Milliseconds; null: not timed, or not known.
Json time_or_null(double ms) { return ms > 0 ? Json(ms) : Json(nullptr); }
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json range_json(const ValueRange& range) {
  Json json = {{"count", range.count},         {"least", range.least},
               {"greatest", range.greatest},   {"smallest", range.smallest},
               {"zero", range.zero},           {"nan", range.nan},
               {"infinite", range.infinite},   {"overflows", range.overflows},
               {"subnormal", range.subnormal}, {"vanishes", range.vanishes}};
  Json bins = Json::array();
  for (size_t i = 0; i < range.histogram.size(); ++i) {
    if (range.histogram[i] > 0)
      bins.push_back({static_cast<int>(i) + ValueRange::kFirstExponent, range.histogram[i]});
  }
  json["histogram"] = std::move(bins);
  return json;
}

Json deviation_json(const Deviation& deviation) {
  return {{"part", number(deviation.part())},
          {"max_abs", deviation.most},
          {"rms", deviation.rms()},
          {"cosine", deviation.cosine()},
          {"snr_db", number(deviation.snr_db())},
          {"lost", deviation.lost}};
}

Json input_json(const DiagnosedInput& input) {
  Json json = {{"name", input.name}, {"right", input.right}, {"in_float32", input.in_float32}};
  json["outputs"] = Json::array();
  for (const DiagnosedOutput& output : input.outputs) {
    Json row = {{"name", output.name}};
    row["deviation"] = deviation_json(output.deviation);
    if (output.choices)
      row["choices"] = {{"right", output.choices->right}, {"of", output.choices->of}};
    row["sign"] = output.sign == OutputSign::kNone ? Json(nullptr) : Json(to_string(output.sign));
    json["outputs"].push_back(std::move(row));
  }
  if (input.ranges.empty()) return json;
  for (const auto& [name, range] : input.ranges) json["ranges"][name] = range_json(range);
  json["host_ms"] = input.host_ms;
  return json;
}

Json blame_json(const Blame& blame) {
  return {
      {"fault", to_string(blame.fault)}, {"place", to_string(blame.place)}, {"value", blame.value}};
}

Json node_json(const DiagnosedNode& node) {
  Json json = {
      {"name", node.name}, {"op", node.op}, {"reads", node.reads}, {"ms", time_or_null(node.ms)}};
  if (!node.floats) return json;
  json["range"] = range_json(node.range);
  json["isolated"] = deviation_json(node.isolated);
  json["cumulative"] = deviation_json(node.cumulative);
  json["constant"] = node.constant;
  json["blame"] = node.blame ? blame_json(*node.blame) : Json(nullptr);
  json["out_of_bounds"] = node.out_of_bounds;
  return json;
}

Json origin_json(const ErrorOrigin& origin) {
  Json json = {{"node", origin.node >= 0 ? Json(origin.name) : Json(nullptr)},
               {"op", origin.node >= 0 ? Json(origin.op) : Json(nullptr)},
               {"fault", to_string(origin.blame.fault)},
               {"place", to_string(origin.blame.place)},
               {"value", origin.blame.value},
               {"largest", origin.blame.largest},
               {"smallest", origin.blame.smallest}};
  json["made_by"] = origin.made_by.empty() ? Json(nullptr) : Json(origin.made_by);
  json["part"] = number(origin.part);
  json["shows"] = origin.shows;
  json["inputs"] = origin.inputs;
  return json;
}

Json times_json(const PlanTimes& times) {
  return {{"low", time_or_null(times.low)},
          {"raised", time_or_null(times.raised)},
          {"high", time_or_null(times.high)}};
}

Json file_node_json(const FileNode& node) {
  return {{"name", node.name}, {"op", node.op}, {"reads", node.reads}, {"writes", node.writes}};
}

Json advice_json(const EngineAdvice& advice) {
  return {{"engine", advice.engine},
          {"single_nodes", advice.single_nodes},
          {"text", advice.text},
          {"settings", advice.settings},
          {"sources", advice.sources}};
}

Json plan_json(const PrecisionPlan& plan) {
  Json json = {{"raised", plan.raised},       {"right", plan.right},
               {"smallest", plan.smallest},   {"trials", plan.trials},
               {"chosen_on", plan.chosen_on}, {"predicted_ms", times_json(plan.predicted)}};
  if (const auto& rescale = plan.rescale) {
    json["rescale"] = {{"value", rescale->value},
                       {"factor", rescale->factor},
                       {"available", rescale->available},
                       {"right", rescale->right}};
    json["rescale"]["after"] = Json::array();
    for (const DiagnosedInput& input : rescale->after)
      json["rescale"]["after"].push_back(input_json(input));
  }
  json["in_file"] = Json::array();
  for (const FileNode& node : plan.in_file) json["in_file"].push_back(file_node_json(node));
  json["advice"] = Json::array();
  for (const EngineAdvice& row : plan.advice) json["advice"].push_back(advice_json(row));
  json["after"] = Json::array();
  for (const DiagnosedInput& input : plan.after) json["after"].push_back(input_json(input));
  return json;
}

Json contrast_json(const RangeContrast& row) {
  return {{"value", row.value},
          {"failing", range_json(row.failing)},
          {"passing", range_json(row.passing)},
          {"least_failing", row.least_failing},
          {"most_passing", row.most_passing},
          {"apart", row.apart()}};
}

Json normalising_json(const NormaliseTrials& trials) {
  Json json = {{"values", trials.values}, {"inputs", trials.inputs}, {"tried", Json::array()}};
  for (const Normalisation& way : trials.tried)
    json["tried"].push_back(
        {{"how", to_string(way.how)}, {"divisor", way.divisor}, {"right", way.right}});
  return json;
}

Json float_fault_json(const FloatFault& fault) {
  return {{"node", fault.name},         {"op", fault.op},
          {"lost", fault.lost},         {"in_float64", fault.in_float64},
          {"part", number(fault.part)}, {"inputs", fault.inputs}};
}

Json saved_json(const std::vector<SavedValue>& values) {
  Json json = Json::array();
  for (const SavedValue& value : values)
    json.push_back({{"name", value.name}, {"file", value.file}});
  return json;
}

Json failing_json(const FailingFiles& files) {
  return {{"model", files.model},
          {"nodes", files.nodes},
          {"inputs", saved_json(files.inputs)},
          {"outputs", saved_json(files.outputs)},
          {"command", files.command}};
}

}  // namespace

const char* to_string(Policy policy) { return policy == Policy::kNaive ? "naive" : "engine"; }

std::string diagnosis_to_json(const PrecisionDiagnosis& diagnosis) {
  Json json = {{"schema", "clvet.diagnosis/1"},         {"model", diagnosis.model},
               {"policy", to_string(diagnosis.policy)}, {"place", diagnosis.place},
               {"format", to_string(diagnosis.format)}, {"target", diagnosis.target}};
  json["origins"] = Json::array();
  for (const ErrorOrigin& origin : diagnosis.origins)
    json["origins"].push_back(origin_json(origin));
  json["inputs"] = Json::array();
  for (const DiagnosedInput& input : diagnosis.inputs) json["inputs"].push_back(input_json(input));
  if (diagnosis.float_fault) json["float_fault"] = float_fault_json(*diagnosis.float_fault);
  json["contrasts"] = Json::array();
  for (const RangeContrast& row : diagnosis.contrasts)
    json["contrasts"].push_back(contrast_json(row));
  if (diagnosis.normalising) json["normalising"] = normalising_json(*diagnosis.normalising);
  json["plan"] = diagnosis.plan ? plan_json(*diagnosis.plan) : Json(nullptr);
  json["measured_ms"] = diagnosis.measured ? times_json(*diagnosis.measured) : Json(nullptr);
  json["broken_kernels"] = Json::array();
  for (const BrokenKernel& one : diagnosis.broken)
    json["broken_kernels"].push_back(
        {{"node", one.node}, {"kernel", one.kernel}, {"isolated", deviation_json(one.deviation)}});
  json["other_ways"] = Json::array();
  for (const OtherWay& way : diagnosis.other_ways)
    json["other_ways"].push_back({{"precision", way.precision},
                                  {"activations", way.storage},
                                  {"right", way.right},
                                  {"part", number(way.part)},
                                  {"ms", way.ms}});
  json["stopped"] = diagnosis.stopped ? Json(diagnosis.stopped->message) : Json(nullptr);
  if (diagnosis.failing) json["failing"] = failing_json(*diagnosis.failing);
  json["nodes"] = Json::array();
  for (const DiagnosedNode& node : diagnosis.nodes) json["nodes"].push_back(node_json(node));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
