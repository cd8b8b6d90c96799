#include "runtime/run/measured_times.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"

namespace clvet {
namespace {

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr const char* kSchema = "clvet.times/1";

// A positive number of milliseconds, or nothing.
std::optional<double> number(const nlohmann::json& row, const char* name) {
  const auto found = row.find(name);
  if (found == row.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

}  // namespace

MeasuredTimesFile::MeasuredTimesFile(std::string path) : path_(std::move(path)) {
  const auto text = read_file(path_, kMostBytes);
  if (!text) return;
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("schema", nlohmann::json()) != kSchema) return;
  const auto rows = json.find("rows");
  if (rows == json.end() || !rows->is_object()) return;
  for (const auto& [key, row] : rows->items()) {
    if (!row.is_object()) continue;
    const auto device = number(row, "device_ms"), host = number(row, "host_ms"),
               at = number(row, "at");
    if (device && host && at) rows_[key] = {{*device, *host}, *at};
  }
}

std::optional<MeasuredTimes> MeasuredTimesFile::find(const std::string& key) const {
  const auto found = rows_.find(clean_utf8(key));
  return found == rows_.end() ? std::nullopt : std::optional(found->second.times);
}

Status MeasuredTimesFile::keep(const std::string& key, const MeasuredTimes& times) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  // A key holds names from models, which need not be UTF-8; the file must be.
  rows_[clean_utf8(key)] = {times, std::chrono::duration<double>(now).count()};
  while (rows_.size() > kMostRows) {
    rows_.erase(std::min_element(rows_.begin(), rows_.end(), [](const auto& a, const auto& b) {
      return a.second.at < b.second.at;
    }));
  }
  nlohmann::ordered_json json = {{"schema", kSchema}, {"rows", nlohmann::ordered_json::object()}};
  for (const auto& [name, row] : rows_) {
    json["rows"][name] = {
        {"device_ms", row.times.device_ms}, {"host_ms", row.times.host_ms}, {"at", row.at}};
  }
  return write_file_atomically(path_, json.dump(1) + "\n");
}

}  // namespace clvet
