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
#include "runtime/run/history.h"

namespace clvet {

Result<std::string> read_own_file(const std::string& file, const std::string& state_dir) {
  CLVET_RETURN_IF_ERROR(check_private(state_dir));
  CLVET_RETURN_IF_ERROR(check_private(file));
  return read_file(file);
}

Result<std::optional<KeptReport>> kept_report(const std::string& path,
                                              const std::string& state_dir) {
  std::optional<KeptReport> kept;
  const std::vector<std::string> files =
      path.empty() ? std::vector{report_file(state_dir), report_of_needs_file(state_dir)}
                   : std::vector{path};
  for (const std::string& file : files) {
    const auto text = path.empty() ? read_own_file(file, state_dir) : read_file(file);
    if (!text && text.error().code == ErrorCode::kNotFound && path.empty()) continue;
    if (!text) return tl::unexpected(text.error());
    CLVET_ASSIGN_OR_RETURN(Report report, report_from_json(*text, file));
    if (!kept || report.kernel_set == kernel_set()) kept = KeptReport{file, std::move(report)};
    if (kept->report.kernel_set == kernel_set()) break;
  }
  if (kept) History(state_dir).tell(kept->report);
  return kept;
}

}  // namespace clvet
