#include "runtime/run/measured_times.h"

#include <optional>
#include <string>
#include <utility>

#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "base/row_file.h"
#include "base/text.h"

namespace clvet {

MeasuredTimesFile::MeasuredTimesFile(std::string path)
    : file_(std::move(path), "clvet.times/1", kMostRows) {}

std::optional<MeasuredTimes> MeasuredTimesFile::find(const std::string& key) const {
  const RowFile::Rows rows = file_.read();
  const auto found = rows.find(clean_utf8(key));
  if (found == rows.end()) return std::nullopt;
  const auto device = row_number(found->second, "device_ms"),
             host = row_number(found->second, "host_ms");
  if (!device || !host) return std::nullopt;
  return MeasuredTimes{*device, *host};
}

Status MeasuredTimesFile::keep(const std::string& key, const MeasuredTimes& times) {
  return file_.change([&](RowFile::Rows& rows) {
    rows[clean_utf8(key)] = {
        {"device_ms", times.device_ms}, {"host_ms", times.host_ms}, {"at", seconds_of_today()}};
  });
}

}  // namespace clvet
