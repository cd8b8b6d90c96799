// A report as a program that reads it at each start keeps it: what JSON of megabytes says, in a
// tenth of the time. The snapshot holds for one state of the report's file and for programs that
// know the same members; anything else is no snapshot, and the report itself is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// What tells one state of a file from the next.
struct FileState {
  uint64_t device = 0, inode = 0, size = 0;
  int64_t mtime_ns = 0, ctime_ns = 0;
  bool operator==(const FileState&) const = default;
};
// nullopt: there is no such file.
std::optional<FileState> file_state(const std::string& path);

// Of what report_from_json() made of a file in that state.
std::string snapshot_of(const Report& report, const FileState& state);
// kInvalidArgument: of another state or program, cut off, or damaged.
Result<Report> report_of_snapshot(std::string_view text, const FileState& state);

}  // namespace clvet
