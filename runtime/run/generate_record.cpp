#include "runtime/run/generate_record.h"

#include <string>

#include "runtime/plan/combination_json.h"
#include "runtime/run/answer.h"
#include "runtime/run/language_session.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

Json avoided_json(const LanguageRecord& record) {
  Json json = Json::array();
  for (const auto& row : record.avoided) {
    json.push_back({{"combination", combination_json(row.combination)}, {"reason", row.reason}});
  }
  return json;
}

Json nodes_json(const LanguageRecord& record) {
  Json json = Json::array();
  for (const LaunchRecord& row : record.nodes) {
    json.push_back({{"name", row.name},
                    {"op", row.op},
                    {"kernel", row.kernel},
                    {"variant_key", row.variant_key}});
  }
  return json;
}

}  // namespace

std::string generate_record_to_json(const std::string& model, const LanguageRecord& record,
                                    const Answer& answer) {
  const Json json = {
      {"schema", "clvet.generate/1"},
      {"model", model},
      {"device", record.device},
      {"combination", combination_json(record.combination)},
      {"device_bytes", record.device_bytes},
      {"launches_a_token", record.nodes.size()},
      {"nodes", nodes_json(record)},
      {"device_ms_a_token", answer.device_ms ? Json(*answer.device_ms) : Json(nullptr)},
      {"load_ms", record.load_ms},
      {"warnings", record.warnings},
      {"checked_every", record.checked_every},
      {"avoided", avoided_json(record)},
      {"prompt_ids", answer.prompt},
      {"ids", answer.tokens},
      {"text", answer.text},
      {"interrupted", answer.interrupted},
      {"prompt_ms", answer.prompt_ms},
      {"ids_ms", answer.tokens_ms}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
