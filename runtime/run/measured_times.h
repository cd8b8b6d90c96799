// What models took on the device and on the host, measured once and kept in the state folder.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "base/row_file.h"

namespace clvet {

struct MeasuredTimes {
  double device_ms = 0;
  double host_ms = 0;  // at least: a host that was far behind is not waited for

  // The host has to be clearly ahead: a fifth of the time lies within the noise of a board.
  bool host_wins() const { return host_ms < 0.8 * device_ms; }
};

class MeasuredTimesFile {
 public:
  // A file that is absent or not readable as one of ours counts as empty: it is measured again.
  explicit MeasuredTimesFile(std::string path);

  std::optional<MeasuredTimes> find(const std::string& key) const;
  // Writes the whole file; the oldest rows go beyond kMostRows.
  Status keep(const std::string& key, const MeasuredTimes& times);

  static constexpr size_t kMostRows = 500;

 private:
  RowFile file_;
};

}  // namespace clvet
