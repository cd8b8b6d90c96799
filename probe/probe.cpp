#include "probe/probe.h"

#include <fmt/ranges.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/file.h"
#include "base/processors.h"
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
#include "probe/trial/case_names.h"
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

Status keep_selected(const std::string& selector, std::vector<FoundDevice>& devices) {
  if (selector.empty() || devices.empty()) return {};
  const auto reports = reports_of(devices);
  std::vector<FoundDevice> kept;
  for (size_t i = 0; i < devices.size(); ++i) {
    if (device_matches(reports, i, selector)) kept.push_back(devices[i]);
  }
  if (kept.empty()) return no_such_device(reports, selector);
  devices = std::move(kept);
  return {};
}

Result<std::vector<TrialCase>> cases_for(const ProbeOptions& options, const Catalog& catalog,
                                         const DeviceReport& device) {
  const DeviceFeatures features = features_of(device);
  CLVET_ASSIGN_OR_RETURN(std::vector<TrialCase> cases, plan_cases(catalog, features, options.tier));
  keep_cases(options.cases, cases);
  put_worthy_first(features, options.budget_seconds > 0, cases);
  return cases;
}

Status check_any_case(const ProbeOptions& options, const Catalog& catalog,
                      const std::vector<FoundDevice>& devices) {
  if (options.cases.empty() || devices.empty()) return {};
  for (const FoundDevice& device : devices) {
    CLVET_ASSIGN_OR_RETURN(const auto cases, cases_for(options, catalog, device.report));
    if (!cases.empty()) return {};
  }
  return fail(ErrorCode::kInvalidArgument,
              "no case that the core tier tries here matches --case {}; add --tier full",
              fmt::join(options.cases, " "));
}

// Adds the device's verdicts and totals to the report; false where the probe was stopped meanwhile.
Result<bool> probe_device(const ProbeOptions& options, const RunnerSettings& settings,
                          const Catalog& catalog, const std::vector<KnownIssue>& issues,
                          FoundDevice& found, Journal& journal, Report& report) {
  CLVET_ASSIGN_OR_RETURN(DeviceRunner runner,
                         DeviceRunner::create(settings, found.route, found.report));
  CLVET_RETURN_IF_ERROR(runner.prepare(journal));
  CLVET_ASSIGN_OR_RETURN(std::vector<TrialCase> cases, cases_for(options, catalog, found.report));
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
  return !runner.stopped();
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
  CLVET_RETURN_IF_ERROR(keep_selected(options.device, found.devices));
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
  settings.lanes = thread_count() < 2 ? 1 : kLanes;
  settings.sink = options.sink;
  return settings;
}

// What is missing is for the next probe, which needs the journal.
Status keep_report(const ProbeOptions& options, bool done, Journal& journal, Report& report) {
  const bool unfinished = interrupt_requested || !done || report.run.counts.contains("missing");
  if (options.keep) CLVET_RETURN_IF_ERROR(options.keep(report));
  return unfinished ? Status() : journal.finish();
}

// Where the probe ends by itself, the cases in flight do not count as interrupted.
struct StopAtEnd {
  Journal& journal;
  ~StopAtEnd() { journal.stop(); }
};

Result<Report> probe_machine(const ProbeOptions& options) {
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(make_private_folder(options.state_dir));
  CLVET_ASSIGN_OR_RETURN(Catalog catalog, Catalog::embedded());
  CLVET_RETURN_IF_ERROR(check_case_patterns(catalog, options.cases));
  CLVET_ASSIGN_OR_RETURN(const AdviceData data, advice_data(options.data_dir));
  Report report = empty_report(options);
  CLVET_ASSIGN_OR_RETURN(Journal journal, Journal::open(options.state_dir + "/probe.journal",
                                                        report.kernel_set, options.fresh));
  const StopAtEnd stop{journal};
  become_subreaper();
  report.host = read_host();
  const WorkerSettings worker = worker_settings(options, started);
  CLVET_ASSIGN_OR_RETURN(auto devices, discover_devices(options, worker, report));
  CLVET_RETURN_IF_ERROR(check_any_case(options, catalog, devices));
  const RunnerSettings settings = runner_settings(options, worker);
  bool done = true;
  for (FoundDevice& device : devices) {
    CLVET_ASSIGN_OR_RETURN(
        const bool went_through,
        probe_device(options, settings, catalog, data.issues, device, journal, report));
    done = done && went_through;
  }
  report.run.wall_s = monotonic_seconds() - started;
  report.run.synced_records = journal.synced_records();
  report.advice = advise(report, data);
  const bool spent = worker.deadline > 0 && monotonic_seconds() > worker.deadline;
  if (interrupt_requested || (spent && devices.empty())) report.complete = false;
  CLVET_RETURN_IF_ERROR(keep_report(options, done, journal, report));
  return report;
}

}  // namespace

Result<Report> probe(const ProbeOptions& options) {
  Result<Report> report = probe_machine(options);
  // Memory, processes or descriptors that the machine refuses are clvet's own fault, not the
  // user's.
  if (!report && report.error().code == ErrorCode::kResourceExhausted)
    report.error().code = ErrorCode::kInternal;
  return report;
}

}  // namespace clvet
