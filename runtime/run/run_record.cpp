#include "runtime/run/run_record.h"

#include <string>
#include <utility>
#include <vector>

#include "runtime/decode/ctc.h"
#include "runtime/plan/combination_json.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

// Milliseconds; null: not timed.
Json time_or_null(double ms) { return ms > 0 ? Json(ms) : Json(nullptr); }

Json nodes_json(const std::vector<NodeRecord>& rows) {
  Json json = Json::array();
  for (const NodeRecord& row : rows) {
    Json node = {{"name", row.name}, {"op", row.op}, {"where", to_string(row.place)}};
    node["variant_key"] = text_or_null(row.variant_key);
    node["kernel"] = text_or_null(row.kernel);
    if (!row.reason.empty()) node["reason"] = row.reason;
    node["ms"] = time_or_null(row.ms);
    node["predicted_ms"] = time_or_null(row.predicted_ms);
    json.push_back(std::move(node));
  }
  return json;
}

Json fallbacks_json(const std::vector<Fallback>& rows) {
  Json json = Json::array();
  for (const Fallback& row : rows) {
    json.push_back(
        {{"node", row.node}, {"from", row.from}, {"to", row.to}, {"verdict", row.verdict}});
  }
  return json;
}

Json outputs_json(const std::vector<OutputRecord>& rows) {
  Json json = Json::array();
  for (const OutputRecord& row : rows) {
    json.push_back({{"name", row.name},
                    {"dtype", row.dtype},
                    {"shape", row.shape},
                    {"file", text_or_null(row.file)}});
  }
  return json;
}

}  // namespace

std::string run_record_to_json(const RunRecord& record) {
  Json json = {{"schema", "clvet.run/1"}, {"model", record.model}, {"device", record.device}};
  json["combination"] = combination_json(record.combination);
  json["nodes"] = nodes_json(record.nodes);
  json["fallbacks"] = fallbacks_json(record.fallbacks);
  json["warnings"] = record.warnings;
  json["timing"] = {{"load_ms", record.load_ms},
                    {"plan_ms", record.plan_ms},
                    {"build_ms", record.build_ms},
                    {"first_ms", record.first_ms},
                    {"min_ms", time_or_null(record.min_ms)},
                    {"median_ms", time_or_null(record.median_ms)}};
  if (record.programs.compiled + record.programs.loaded > 0) {
    json["programs"] = {{"compiled", record.programs.compiled},
                        {"from_cache", record.programs.loaded}};
  }
  if (record.choice) {
    json["choice"] = {{"device_ms", record.choice->device_ms}, {"host_ms", record.choice->host_ms}};
  }
  if (record.checked_every > 0) json["checked_every"] = record.checked_every;
  json["outputs"] = outputs_json(record.outputs);
  for (const DecodedText& row : record.texts) {
    json["texts"].push_back({{"text", row.text}, {"score", row.score}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
