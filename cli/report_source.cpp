#include "cli/report_source.h"

#include <algorithm>

#include "base/file.h"
#include "kernels/catalog.h"
#include "probe/host/environment.h"
#include "probe/probe.h"
#include "probe/report/report_json.h"
#include "probe/worker/process.h"

namespace clvet {
namespace {

Result<Report> probe_now(const std::string& why, const EventSink& sink) {
  sink({EventLevel::kInfo, why + "; probing the core tier first (once, about half a minute)"});
  ProbeOptions options;
  options.state_dir = state_dir();
  options.program = own_executable();
  options.sink = sink;
  CLVET_ASSIGN_OR_RETURN(Report report, probe(options));
  if (interrupt_requested) return fail(ErrorCode::kDeadlineExceeded, "interrupted while probing");
  CLVET_RETURN_IF_ERROR(
      write_file_atomically(options.state_dir + "/report.json", report_to_json(report)));
  return report;
}

}  // namespace

bool report_is_current(const Report& report, bool whole) {
  return (report.complete || !whole) && !report.devices.empty() &&
         report.kernel_set == kernel_set() &&
         std::all_of(report.devices.begin(), report.devices.end(), same_environment);
}

Result<Report> current_report(const std::string& path, const EventSink& sink) {
  const std::string file = path.empty() ? state_dir() + "/report.json" : path;
  const auto text = read_file(file);
  if (!text) {
    const bool absent = text.error().code == ErrorCode::kNotFound;
    if (!absent || !path.empty()) return tl::unexpected(text.error());
    return probe_now("no report for this machine yet", sink);
  }
  CLVET_ASSIGN_OR_RETURN(Report report, report_from_json(*text, file));
  if (report_is_current(report, path.empty())) return report;
  return probe_now("the report " + file + " was made with other drivers or kernels", sink);
}

}  // namespace clvet
