#include "cli/report_source.h"

#include <algorithm>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/file.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/host/current_report.h"
#include "probe/host/environment.h"
#include "probe/probe.h"
#include "probe/process/process.h"
#include "probe/report/merge.h"
#include "probe/report/report.h"
#include "probe/report/report_files.h"
#include "probe/report/report_json.h"
#include "probe/report/tuned.h"
#include "probe/worker/worker_limits.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/next_token.h"
#include "runtime/plan/variant_table.h"
#include "runtime/run/history.h"
#include "runtime/run/kept_report.h"

namespace clvet {
namespace {

// Kept in `file`.
Result<Report> probe_now(const std::string& why, const std::vector<std::string>& needs,
                         const std::string& file, const EventSink& sink) {
  sink({EventLevel::kInfo,
        needs.empty() ? fmt::format("{}; probing the drivers first (once, about a minute)", why)
                      : fmt::format("{}; trying the kernels that are needed first (once)", why)});
  ProbeOptions options;
  options.cases = needs;
  options.state_dir = state_dir();
  options.program = own_executable();
  options.sink = sink;
  options.keep = [&](Report& report) -> Status {
    const auto written = keep_report(file, false, sink, report);
    return written ? Status() : tl::unexpected(written.error());
  };
  CLVET_ASSIGN_OR_RETURN(Report report, probe(options));
  if (interrupt_requested) return fail(ErrorCode::kDeadlineExceeded, "interrupted while probing");
  return report;
}

std::string whole_file() { return report_file(state_dir()); }
std::string needs_file() { return report_of_needs_file(state_dir()); }

bool has_best(const Report& report) {
  return std::any_of(report.devices.begin(), report.devices.end(),
                     [](const DeviceReport& device) { return device.best.has_value(); });
}

// Of the same needs, in the same order.
bool serves(const std::string& file, const std::vector<std::string>& needs, Report& report) {
  auto found = read_own_report(file, state_dir());
  if (!found || found->run.only_cases != needs || !report_is_current(*found, false)) return false;
  report = std::move(*found);
  return true;
}

Result<Report> with_history(Result<Report> report, const EventSink& sink) {
  if (!report) return report;
  History(state_dir()).tell(*report);
  warn_of_tuned(tuned_file(state_dir()), sink);
  return report;
}

Result<Report> found_or_made(const std::string& path, const EventSink& sink,
                             const std::vector<std::string>& needs) {
  const std::string file = path.empty() ? whole_file() : path;
  const std::string part = needs.empty() ? whole_file() : needs_file();
  std::string why = "no report for this machine yet";
  auto known =
      path.empty() ? read_own_report(file, state_dir()) : read_named_report(file, state_dir());
  if (known) {
    const bool usable = known->run.only_cases.empty() && has_best(*known);
    if (report_is_current(*known, path.empty() && !usable)) return known;
    why = fmt::format("the report {} was made with other drivers or kernels", file);
  } else if (known.error().code != ErrorCode::kNotFound || !path.empty()) {
    return known;
  }
  Report report;
  if (!needs.empty() && serves(part, needs, report)) return report;
  return probe_now(why, needs, part, sink);
}

}  // namespace

Result<bool> keep_report(const std::string& file, bool narrowed, const EventSink& sink,
                         Report& report) {
  const auto text = read_file(file);
  const auto known = text ? report_from_json(*text, file) : tl::unexpected(text.error());
  const bool poorer = narrowed || !report.complete;
  if (known && report.devices.empty() && poorer && known->kernel_set == kernel_set() &&
      std::any_of(known->devices.begin(), known->devices.end(), still_stands)) {
    sink({EventLevel::kWarning,
          fmt::format("{} is kept: it has a device, and this probe reached none", file)});
    return false;
  }
  if (known && add_known(*known, poorer, still_stands, report)) {
    sink({EventLevel::kInfo,
          fmt::format("{}: kept what it knew and this probe did not reach", file)});
  }
  CLVET_RETURN_IF_ERROR(write_file_atomically(file, report_to_json(report)));
  return true;
}

Result<Report> current_report(const std::string& path, const EventSink& sink,
                              const std::vector<std::string>& needs) {
  const auto beside = std::async(VariantTable::embedded);  // its destructor waits
  return with_history(found_or_made(path, sink, needs), sink);
}

void warn_of_tuned(const std::string& file, const EventSink& sink) {
  const auto kept = read_tuned(file);
  if (!kept) sink({EventLevel::kWarning, kept.error().message});
  if (!kept || kept->faults.empty()) return;
  sink({EventLevel::kWarning, fmt::format("{}: {} rows are left out: {}", file, kept->faults.size(),
                                          kept->faults.front())});
}

std::vector<std::string> needs_of(const LlmConfig& config) {
  std::vector<std::string> patterns;
  for (const std::string& op : decoder_ops(config)) patterns.push_back(op + "_*");
  patterns.emplace_back(std::string(kNextToken) + "_*");
  return patterns;
}

}  // namespace clvet
