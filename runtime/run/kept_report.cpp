#include "runtime/run/kept_report.h"

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

}  // namespace

Result<Report> read_own_report(const std::string& file, const std::string& state_dir) {
  const std::string snapshot = snapshot_file(file);
  const auto state = file_state(file);
  if (state) {
    const auto text = read_own_file(snapshot, state_dir);
    auto report = text ? report_of_snapshot(*text, *state) : tl::unexpected(text.error());
    if (report) return report;
  }
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_own_file(file, state_dir));
  CLVET_ASSIGN_OR_RETURN(Report report, report_from_json(text, file));
  if (state && state == file_state(file)) {
    // Without it the next start is as slow as this one.
    (void)write_file_atomically(snapshot, snapshot_of(report, *state), Sync::kLater,
                                Readers::kUser);
  }
  return report;
}

Result<Report> read_named_report(const std::string& file) {
  CLVET_ASSIGN_OR_RETURN(const std::string text, read_file(file));
  return report_from_json(text, file);
}

Result<std::optional<KeptReport>> kept_report(const std::string& path,
                                              const std::string& state_dir) {
  std::optional<KeptReport> kept;
  const std::vector<std::string> files =
      path.empty() ? std::vector{report_file(state_dir), report_of_needs_file(state_dir)}
                   : std::vector{path};
  for (const std::string& file : files) {
    auto report = path.empty() ? read_own_report(file, state_dir) : read_named_report(file);
    if (!report && report.error().code == ErrorCode::kNotFound && path.empty()) continue;
    if (!report) return tl::unexpected(report.error());
    if (!kept || report->kernel_set == kernel_set()) kept = KeptReport{file, std::move(*report)};
    if (kept->report.kernel_set == kernel_set()) break;
  }
  if (kept) History(state_dir).tell(kept->report);
  return kept;
}

}  // namespace clvet
