#include "runtime/run/kept_report.h"

#include <functional>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/report/report_files.h"
#include "probe/report/report_json.h"
#include "probe/report/report_snapshot.h"
#include "runtime/run/history.h"

namespace clvet {

namespace {

// Of the files of `state_dir`, which nobody else may have written.
Result<std::string> read_own_file(const std::string& file, const std::string& state_dir) {
  CLVET_RETURN_IF_ERROR(check_private(state_dir));
  CLVET_RETURN_IF_ERROR(check_private(file));
  return read_file(file);
}

// What later starts read in place of a report.
struct Snapshot {
  std::string file, state_dir;
};

Result<Report> read_report(const std::string& file, const Snapshot& snapshot,
                           const std::function<Result<std::string>()>& read_text) {
  const auto state = file_state(file);
  if (state) {
    const auto text = read_own_file(snapshot.file, snapshot.state_dir);
    auto report = text ? report_of_snapshot(*text, *state) : tl::unexpected(text.error());
    if (report) return report;
  }
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_text());
  CLVET_ASSIGN_OR_RETURN(Report report, report_from_json(text, file));
  if (state && state == file_state(file) && check_private(snapshot.state_dir)) {
    // Without it the next start is as slow as this one.
    (void)write_file_atomically(snapshot.file, snapshot_of(report, *state), Sync::kLater,
                                Readers::kUser);
  }
  return report;
}

}  // namespace

Result<Report> read_own_report(const std::string& file, const std::string& state_dir) {
  return read_report(file, {snapshot_file(file), state_dir},
                     [&] { return read_own_file(file, state_dir); });
}

Result<Report> read_named_report(const std::string& file, const std::string& state_dir) {
  return read_report(file, {named_snapshot_file(state_dir), state_dir},
                     [&] { return read_file(file); });
}

Result<std::optional<KeptReport>> kept_report(const std::string& path,
                                              const std::string& state_dir) {
  std::optional<KeptReport> kept;
  const std::vector<std::string> files =
      path.empty() ? std::vector{report_file(state_dir), report_of_needs_file(state_dir)}
                   : std::vector{path};
  for (const std::string& file : files) {
    auto report =
        path.empty() ? read_own_report(file, state_dir) : read_named_report(file, state_dir);
    if (!report && report.error().code == ErrorCode::kNotFound && path.empty()) continue;
    if (!report) return tl::unexpected(report.error());
    if (!kept || report->kernel_set == kernel_set()) kept = KeptReport{file, std::move(*report)};
    if (kept->report.kernel_set == kernel_set()) break;
  }
  if (kept) History(state_dir).tell(kept->report);
  return kept;
}

}  // namespace clvet
