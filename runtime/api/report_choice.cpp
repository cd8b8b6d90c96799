#include "runtime/api/report_choice.h"

#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/host/environment.h"
#include "probe/report/report.h"
#include "probe/report/report_files.h"
#include "probe/report/report_json.h"
#include "runtime/run/history.h"

namespace clvet {

Result<ReportChoice> choose_report(const std::string& file, const std::string& state_dir) {
  const bool named = !file.empty();
  std::string path = named ? file : report_file(state_dir);
  auto text = read_file(path);
  // What 'clvet generate' tried where there was no other report.
  if (!named && !text && text.error().code == ErrorCode::kNotFound)
    text = read_file(path = report_of_needs_file(state_dir));
  if (!text && !named && text.error().code == ErrorCode::kNotFound)
    return ReportChoice{{}, "there is no report of this machine yet: 'clvet probe' makes one"};
  if (!text) return tl::unexpected(text.error());
  if (!named) CLVET_RETURN_IF_ERROR(check_private(path));
  CLVET_ASSIGN_OR_RETURN(Report report, report_from_json(*text, path));
  std::erase_if(report.devices, [](const DeviceReport& device) {
    return !same_environment(device) || !library_is_listed(device);
  });
  if (report.kernel_set == kernel_set() && !report.devices.empty()) {
    History(state_dir).tell(report);
    return ReportChoice{std::move(report), {}};
  }
  const std::string why = fmt::format(
      "the report {} was made with other drivers or kernels: 'clvet probe' makes a new one", path);
  if (named) return fail(ErrorCode::kInvalidArgument, "{}", why);
  return ReportChoice{{}, why};
}

}  // namespace clvet
