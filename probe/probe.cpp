#include "probe/probe.h"

#include <cstddef>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/file.h"
#include "base/result.h"
#include "base/version.h"
#include "kernels/catalog.h"
#include "probe/diagnose/advice.h"
#include "probe/discover/discover.h"
#include "probe/host/host.h"
#include "probe/known_issues/identity.h"
#include "probe/known_issues/known_issues.h"
#include "probe/process/process.h"
#include "probe/process/stage_page.h"
#include "probe/report/device_features.h"
#include "probe/report/device_selector.h"
#include "probe/report/report.h"
#include "probe/report/summary.h"
#include "probe/trial/cases.h"
#include "probe/trial/order.h"
#include "probe/trial/runner.h"
#include "probe/worker/journal.h"
#include "probe/worker/worker_limits.h"

namespace clvet {
namespace {

// Two programs at once: a third driver process is too much for a board of 1 GB.
constexpr int kLanes = 2;

std::vector<DeviceReport> reports_of(const std::vector<FoundDevice>& devices) {
  std::vector<DeviceReport> reports;
  for (const FoundDevice& device : devices) reports.push_back(device.report);
  return reports;
}

void keep_selected(const std::string& selector, const EventSink& sink,
                   std::vector<FoundDevice>& devices) {
  if (selector.empty() || devices.empty()) return;
  const auto reports = reports_of(devices);
  std::vector<FoundDevice> kept;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (device_matches(reports, i, selector)) kept.push_back(devices[i]);
  }
  if (kept.empty()) {
    std::string names;
    for (const DeviceReport& report : reports) names += (names.empty() ? "" : ", ") + report.name;
    sink({EventLevel::kError,
          fmt::format("no device matches --device '{}'; there are: {}", selector, names)});
  }
  devices = std::move(kept);
}

// Adds the device's verdicts and totals to the report.
Status probe_device(const ProbeOptions& options, const RunnerSettings& settings,
                    const Catalog& catalog, const std::vector<KnownIssue>& issues,
                    FoundDevice& found, Journal& journal, Report& report) {
  CLVET_ASSIGN_OR_RETURN(DeviceRunner runner,
                         DeviceRunner::create(settings, found.route, found.report));
  CLVET_RETURN_IF_ERROR(runner.prepare());
  CLVET_ASSIGN_OR_RETURN(std::vector<TrialCase> cases,
                         plan_cases(catalog, features_of(found.report), options.tier));
  keep_cases(options.cases, cases);
  put_suspects_last(issues, facts_of(found.report, report.host), cases);
  CLVET_ASSIGN_OR_RETURN(std::vector<VerdictReport> verdicts, runner.run(cases, journal));
  summarise_device(verdicts, found.report);
  report.devices.push_back(found.report);
  report.run.cases += static_cast<int>(cases.size());
  report.run.driver_s += runner.totals().driver_seconds;
  report.run.attempts += runner.totals().attempts;
  for (VerdictReport& verdict : verdicts) {
    ++report.run.counts[to_string(verdict.verdict)];
    report.verdicts.push_back(std::move(verdict));
  }
  if (runner.stopped()) report.complete = false;
  return {};
}

Report empty_report(const ProbeOptions& options) {
  Report report;
  report.tool_version = kVersion;
  report.kernel_set = kernel_set();
  report.created = utc_now();
  report.complete = options.cases.empty();
  report.run.tier = options.tier == Tier::kFull ? "full" : "core";
  report.run.only_cases = options.cases;
  return report;
}

// The selected devices; all else that was found is in the report then.
Result<std::vector<FoundDevice>> discover_devices(const ProbeOptions& options,
                                                  const WorkerSettings& worker, Report& report) {
  CLVET_ASSIGN_OR_RETURN(Discovery found, discover({options.libraries, worker, options.jobs}));
  keep_selected(options.device, options.sink, found.devices);
  report.loader = std::move(found.loader);
  report.candidates = std::move(found.candidates);
  report.icd_files = std::move(found.icd_files);
  report.run.driver_s = found.driver_seconds;
  return std::move(found.devices);
}

WorkerSettings worker_settings(const ProbeOptions& options, double started) {
  WorkerSettings worker{options.program, {}, options.limits, 0};
  if (options.budget_seconds > 0) worker.deadline = started + options.budget_seconds;
  return worker;
}

RunnerSettings runner_settings(const ProbeOptions& options, const WorkerSettings& worker) {
  RunnerSettings settings;
  settings.worker = worker;
  settings.scratch = options.state_dir + "/scratch";
  settings.stage_path = options.state_dir + "/probe.stage";
  settings.left_behind = StageView::left_behind(settings.stage_path);
  settings.lanes = std::thread::hardware_concurrency() < 2 ? 1 : kLanes;
  settings.sink = options.sink;
  return settings;
}

// What is missing is for the next probe, which needs the journal.
Status leave_journal(const Report& report, Journal& journal) {
  const bool unfinished = interrupt_requested || report.run.counts.contains("missing");
  return unfinished ? Status() : journal.finish();
}

}  // namespace

Result<Report> probe(const ProbeOptions& options) {
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(make_folders(options.state_dir));
  CLVET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::embedded());
  CLVET_ASSIGN_OR_RETURN(const AdviceData data, advice_data(options.data_dir));
  Report report = empty_report(options);
  CLVET_ASSIGN_OR_RETURN(Journal journal, Journal::open(options.state_dir + "/probe.journal",
                                                        report.kernel_set, options.fresh));
  become_subreaper();
  report.host = read_host();
  const WorkerSettings worker = worker_settings(options, started);
  CLVET_ASSIGN_OR_RETURN(auto devices, discover_devices(options, worker, report));
  const RunnerSettings settings = runner_settings(options, worker);
  for (FoundDevice& device : devices) {
    CLVET_RETURN_IF_ERROR(
        probe_device(options, settings, catalog, data.issues, device, journal, report));
  }
  report.run.wall_s = monotonic_seconds() - started;
  report.run.synced_records = journal.synced_records();
  report.advice = advise(report, data);
  const bool spent = worker.deadline > 0 && monotonic_seconds() > worker.deadline;
  if (interrupt_requested || (spent && devices.empty())) report.complete = false;
  CLVET_RETURN_IF_ERROR(leave_journal(report, journal));
  return report;
}

}  // namespace clvet
