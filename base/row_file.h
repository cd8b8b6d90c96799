// Small rows that clvet keeps between runs, by name, in one JSON file of the state folder:
// {"schema": "...", "rows": {"name": {..., "at": seconds since 1970}}}.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"

namespace clvet {

class RowFile {
 public:
  using Rows = std::map<std::string, nlohmann::json>;  // each an object with a number "at"

  // Beyond `most_rows` the oldest go.
  RowFile(std::string path, std::string schema, size_t most_rows)
      : path_(std::move(path)), schema_(std::move(schema)), most_rows_(most_rows) {}

  // None where the file is missing, damaged or of another schema.
  Rows read() const;
  // Reads the rows, has them changed, and replaces the file; no other process does so meanwhile.
  Status change(const std::function<void(Rows&)>& edit, Sync sync = Sync::kNow) const;

 private:
  std::string path_, schema_;
  size_t most_rows_;
};

// Seconds since 1970, for "at".
double seconds_of_today();

// Of a row from a file: a finite number that is not negative, or nothing.
std::optional<double> row_number(const nlohmann::json& row, const char* name);
std::string row_text(const nlohmann::json& row, const char* name);  // empty where there is none

}  // namespace clvet
