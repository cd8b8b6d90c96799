// Reports that are there: nothing is probed.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

struct KeptReport {
  std::string file;
  Report report;  // with what earlier starts found out
};

// The file in `path`, of whichever machine; where that is empty, what `state_dir` keeps, preferably
// made with this program's kernels. nullopt: it keeps none. A named file that cannot be read is an
// error.
Result<std::optional<KeptReport>> kept_report(const std::string& path,
                                              const std::string& state_dir);

// A report among the files of `state_dir`, which nobody else may have written; what later starts
// read in its place lies beside it (probe/report/report_snapshot.h).
Result<Report> read_own_report(const std::string& file, const std::string& state_dir);
// Of whichever machine. What later starts read in its place lies in `state_dir`, if that is there
// and nobody else may write to it; of one file, the last that was named.
Result<Report> read_named_report(const std::string& file, const std::string& state_dir);

}  // namespace clvet
