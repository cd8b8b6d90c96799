#include "runtime/cache/cache_record.h"

#include <cstddef>
#include <numeric>
#include <optional>
#include <string>

#include "base/clock.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "runtime/cache/program_cache.h"

namespace clvet {
namespace {

using Json = nlohmann::ordered_json;

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json program_json(const CachedProgram& one) {
  return {{"file", one.file},
          {"kernel", text_or_null(one.label.kernel)},
          {"device", text_or_null(one.label.device)},
          {"environment_key", text_or_null(one.label.environment_key)},
          {"program_key", text_or_null(one.label.program_key)},
          {"bytes", one.bytes},
          {"used", utc_of(one.used)},
          {"fault", text_or_null(one.fault)}};
}

Json distrusted_json(const DistrustedProgram& one) {
  const bool all = one.program_key == kAllPrograms;
  return {{"environment_key", one.environment_key},
          {"program_key", all ? Json(nullptr) : Json(one.program_key)},
          {"reason", one.reason}};
}

}  // namespace

size_t CacheRecord::bytes() const {
  return std::accumulate(programs.begin(), programs.end(), size_t{0},
                         [](size_t sum, const CachedProgram& one) { return sum + one.bytes; });
}

Result<CacheRecord> cache_record(const std::string& folder) {
  CacheRecord record{.folder = folder, .limit = program_cache_limit()};
  CLVET_ASSIGN_OR_RETURN(record.programs, list_programs(folder));
  record.distrusted = distrusted_programs(folder);
  return record;
}

std::string cache_record_to_json(const CacheRecord& record) {
  Json json = {{"schema", "clvet.cache/1"},        {"folder", record.folder},
               {"limit_bytes", record.limit},      {"bytes", record.bytes()},
               {"programs", Json::array()},        {"distrusted", Json::array()},
               {"tuned_calls", record.tuned_calls}};
  for (const CachedProgram& one : record.programs) json["programs"].push_back(program_json(one));
  for (const DistrustedProgram& one : record.distrusted)
    json["distrusted"].push_back(distrusted_json(one));
  if (record.removed) json["removed"] = *record.removed;
  if (record.exported) json["exported"] = *record.exported;
  if (record.removed_calls) json["removed_calls"] = *record.removed_calls;
  if (record.exported_calls) json["exported_calls"] = *record.exported_calls;
  if (record.imported) json["imported"] = *record.imported;
  if (record.imported_calls) json["imported_calls"] = *record.imported_calls;
  if (record.imported || record.imported_calls) json["refused"] = record.refused;
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace clvet
