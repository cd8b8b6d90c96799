#include "base/row_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "base/fd.h"
#include "base/file.h"
#include "base/json.h"
#include "base/result.h"
#include "base/text.h"

namespace clvet {
namespace {

constexpr size_t kMostBytes = size_t{4} << 20;

}  // namespace

RowFile::Rows RowFile::read() const {
  const auto text = read_file(path_, kMostBytes);
  if (!text) return {};
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object() || json.value("schema", nlohmann::json()) != schema_) return {};
  const auto rows = json.find("rows");
  if (rows == json.end() || !rows->is_object()) return {};
  Rows out;
  for (const auto& [name, row] : rows->items()) {
    if (row.is_object() && row_number(row, "at")) out[name] = row;
  }
  return out;
}

Status RowFile::change(const std::function<void(Rows&)>& edit, Sync sync) const {
  CLVET_RETURN_IF_ERROR(make_folders(std::filesystem::path(path_).parent_path().string()));
  const UniqueFd lock(::open((path_ + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (lock.valid()) ::flock(lock.get(), LOCK_EX);
  Rows rows = read();
  edit(rows);
  while (rows.size() > most_rows_) {
    rows.erase(std::min_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
      return a.second["at"] < b.second["at"];
    }));
  }
  nlohmann::ordered_json json = {{"schema", schema_}, {"rows", nlohmann::ordered_json::object()}};
  // A name may hold what a model says, which need not be UTF-8; the file must be.
  for (const auto& [name, row] : rows) json["rows"][clean_utf8(name)] = row;
  return write_file_atomically(path_, json.dump(1) + "\n", sync);
}

double seconds_of_today() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

std::optional<double> row_number(const nlohmann::json& row, const char* name) {
  const auto found = row.find(name);
  if (found == row.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  return std::isfinite(value) && value >= 0 ? std::optional(value) : std::nullopt;
}

std::string row_text(const nlohmann::json& row, const char* name) {
  const auto found = row.find(name);
  return found != row.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace clvet
