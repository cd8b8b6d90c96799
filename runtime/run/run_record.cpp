#include "runtime/run/run_record.h"

#include <string>
#include <utility>

#include "runtime/decode/ctc.h"
#include "runtime/plan/combination_json.h"
#include "runtime/plan/plan.h"

namespace clvet {

std::string run_record_to_json(const RunRecord& record) {
  using Json = nlohmann::ordered_json;
  Json json = {{"schema", "clvet.run/1"}, {"model", record.model}, {"device", record.device}};
  json["combination"] = combination_json(record.combination);
  json["nodes"] = Json::array();
  for (const NodeRecord& row : record.nodes) {
    Json node = {{"name", row.name}, {"op", row.op}, {"where", to_string(row.place)}};
    node["variant_key"] = row.variant_key.empty() ? Json(nullptr) : Json(row.variant_key);
    node["kernel"] = row.kernel.empty() ? Json(nullptr) : Json(row.kernel);
    if (!row.reason.empty()) node["reason"] = row.reason;
    node["ms"] = row.ms;
    node["predicted_ms"] = row.predicted_ms > 0 ? Json(row.predicted_ms) : Json(nullptr);
    json["nodes"].push_back(std::move(node));
  }
  json["fallbacks"] = Json::array();
  for (const Fallback& row : record.fallbacks) {
    json["fallbacks"].push_back(
        {{"node", row.node}, {"from", row.from}, {"to", row.to}, {"verdict", row.verdict}});
  }
  json["warnings"] = record.warnings;
  json["timing"] = {{"load_ms", record.load_ms},   {"plan_ms", record.plan_ms},
                    {"build_ms", record.build_ms}, {"first_ms", record.first_ms},
                    {"min_ms", record.min_ms},     {"median_ms", record.median_ms}};
  if (record.choice) {
    json["choice"] = {{"device_ms", record.choice->device_ms}, {"host_ms", record.choice->host_ms}};
  }
  json["outputs"] = Json::array();
  for (const OutputRecord& row : record.outputs) {
    json["outputs"].push_back({{"name", row.name},
                               {"dtype", row.dtype},
                               {"shape", row.shape},
                               {"file", row.file.empty() ? Json(nullptr) : Json(row.file)}});
  }
  for (const DecodedText& row : record.texts) {
    json["texts"].push_back({{"text", row.text}, {"score", row.score}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
