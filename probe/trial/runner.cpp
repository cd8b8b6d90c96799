#include "probe/trial/runner.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/cl/api.h"
#include "probe/host/environment.h"
#include "probe/process/process.h"
#include "probe/process/stage_page.h"
#include "probe/report/report.h"
#include "probe/trial/canary.h"
#include "probe/trial/cases.h"
#include "probe/trial/judge.h"
#include "probe/trial/lane.h"
#include "probe/trial/material.h"
#include "probe/trial/peaks.h"
#include "probe/trial/request.h"
#include "probe/worker/device_route.h"
#include "probe/worker/journal.h"
#include "probe/worker/protocol.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"

namespace clvet {
namespace {

constexpr double kBuildClockFactor = 10, kBuildClockCeiling = 300;

bool ends_run(OutcomeKind kind) {
  return kind == OutcomeKind::kDeadline || kind == OutcomeKind::kInterrupted;
}

}  // namespace

Result<DeviceRunner> DeviceRunner::create(const RunnerSettings& settings, const DeviceRoute& route,
                                          DeviceReport& device) {
  DeviceRunner runner(settings, route, device);
  for (int i = 0; i < std::max(1, settings.lanes); ++i) {
    const std::string suffix = i == 0 ? "" : fmt::format(".{}", i + 1);
    CLVET_ASSIGN_OR_RETURN(Lane lane,
                           Lane::create(settings.stage_path + suffix, settings.scratch + suffix));
    runner.lanes_.push_back(std::move(lane));
  }
  return runner;
}

void DeviceRunner::take_note(const Outcome& outcome) {
  totals_.driver_seconds += outcome.driver_seconds;
  if (ends_run(outcome.kind)) stopped_ = true;
}

Outcome DeviceRunner::ask(const nlohmann::json& request, const std::vector<int>& fds) {
  Outcome outcome = lane().call(request, fds);
  take_note(outcome);
  return outcome;
}

void DeviceRunner::note_open_failure(const Outcome& outcome) {
  VerdictReport fault;
  fault.verdict = Verdict::kCrash;
  fault.stage = outcome.stage.stage.value_or(Stage::kContext);
  fault.evidence.call = outcome.stage.call;
  fault.evidence.signal = outcome.exit.signal;
  fault.evidence.stderr_text = shorten(outcome.captured, 4096);
  if (outcome.kind == OutcomeKind::kReply) {
    fault.verdict = outcome.reply.contains("lie") ? Verdict::kLie : Verdict::kLaunchError;
    fault.stage = Stage::kContext;
    fault.evidence.call = text_in(outcome.reply, "call");
    fault.evidence.cl_error = static_cast<int>(number_in(outcome.reply, "cl_error"));
    fault.evidence.note = text_in(outcome.reply, "lie") + text_in(outcome.reply, "reason");
    if (fault.evidence.note.empty()) fault.evidence.note = cl_error_name(fault.evidence.cl_error);
  } else if (outcome.kind == OutcomeKind::kHang) {
    fault.verdict = Verdict::kHang;
  } else if (outcome.kind == OutcomeKind::kUnreapable) {
    fault.verdict = Verdict::kDeviceLost;
  } else if (outcome.exit.signal == 0) {
    fault.evidence.exit_status = outcome.exit.exit_status;
  }
  device_fault_ = fault;
}

WorkerSettings DeviceRunner::worker_settings() const {
  WorkerSettings worker = settings_.worker;
  const double floor = worker.limits.build.idle;
  worker.limits.build.idle =
      std::clamp(kBuildClockFactor * slowest_build_, floor, std::max(floor, kBuildClockCeiling));
  worker.limits.build.busy = std::max(worker.limits.build.busy, 2 * worker.limits.build.idle);
  return worker;
}

// Starts the lane's worker and opens the device in it. Nothing where no worker can be started.
std::optional<Outcome> DeviceRunner::open_device() {
  if (!lane().start(worker_settings())) return std::nullopt;
  return ask({{"do", "open"},
              {"library", route_.library},
              {"platform", route_.platform},
              {"device", route_.device}});
}

bool DeviceRunner::ensure_worker() {
  if (lane().alive()) return true;
  while (open_failures_ < kMaxOpenFailures && !stopped_) {
    const auto outcome = open_device();
    if (!outcome) return false;
    if (shows_open_device(*outcome)) {
      open_failures_ = 0;
      device_fault_.reset();
      return true;
    }
    if (!stopped_) note_open_failure(*outcome);
    lane().end_worker();
    ++open_failures_;
  }
  return false;
}

void DeviceRunner::check_canary() {
  auto canary = prepare_canary();
  if (!canary) return;
  const Outcome outcome = ask(to_message(canary->request), raw_fds(*canary));
  device_->capabilities["canary"] = judge_canary(*canary, outcome);
}

bool DeviceRunner::canary_lives() {
  lane().end_worker();  // what went wrong may have spoilt this process, and not the device
  if (!ensure_worker()) return stopped_;
  auto canary = prepare_canary();
  if (!canary) return true;
  const Outcome outcome = ask(to_message(canary->request), raw_fds(*canary));
  if (stopped_) return true;
  const auto found = judge_canary(*canary, outcome);
  if (outcome.kind == OutcomeKind::kUnreapable) return false;
  if (found.verdict == CapabilityVerdict::kFalse) return ++canary_errors_ < 2 && canary_lives();
  canary_errors_ = 0;
  return true;
}

void DeviceRunner::check_map_read() {
  constexpr size_t kBytes = 1 << 16;
  if (!ensure_worker()) return;
  const Outcome outcome = ask({{"do", "map_read"}, {"bytes", kBytes}});
  if (stopped_) return;
  CapabilityReport& found = device_->capabilities["map_read"];
  found.claimed = true;
  if (outcome.kind == OutcomeKind::kHang) {
    found.verdict = CapabilityVerdict::kHang;
    found.evidence = outcome.stage.call;
  } else if (outcome.kind != OutcomeKind::kReply) {
    found.verdict = CapabilityVerdict::kCrash;
    found.evidence =
        fmt::format("signal {} ended the process in {}", outcome.exit.signal, outcome.stage.call);
  } else if (flag_in(outcome.reply, "null")) {
    found.verdict = CapabilityVerdict::kWrong;
    found.evidence = "lie: clEnqueueMapBuffer returned success and a null pointer";
  } else if (const int code = static_cast<int>(number_in(outcome.reply, "cl_error")); code != 0) {
    found.verdict = CapabilityVerdict::kFalse;
    found.evidence = cl_error_name(code);
  } else {
    const bool same = flag_in(outcome.reply, "same");
    found.verdict = same ? CapabilityVerdict::kTrue : CapabilityVerdict::kWrong;
    found.evidence = same ? "" : "a mapped read differs from what was written";
  }
}

// Peaks are no case, but they stand in the journal like one: where the machine went down while they
// were measured they are left alone.
Status DeviceRunner::measure_peaks(Journal& journal) {
  const auto requests = peak_requests(*device_);
  const std::string key = Journal::key_of(device_->environment_key, "peaks", "peaks");
  const JournalEntry* past = journal.find(key);
  if (requests.empty() || (past && past->in_flight && past->boot_id != boot_id())) return {};
  CLVET_RETURN_IF_ERROR(journal.begin(key, 1, false));
  for (const auto& request : requests) {
    if (!ensure_worker()) break;
    const Outcome outcome = ask(request);
    if (stopped_) break;
    if (outcome.kind == OutcomeKind::kReply) take_peaks(outcome.reply, device_->peaks);
    // What hangs once hangs again, each time for as long as the clock allows.
    if (outcome.kind == OutcomeKind::kHang || outcome.kind == OutcomeKind::kUnreapable) break;
  }
  VerdictReport done;
  done.verdict = Verdict::kPass;
  return journal.end(key, done, !stopped_);
}

void DeviceRunner::read_objects() {
  if (!ensure_worker()) return;
  const Outcome outcome = ask({{"do", "objects"}});
  if (outcome.kind != OutcomeKind::kReply) return;
  const auto rows = outcome.reply.find("objects");
  if (rows == outcome.reply.end() || !rows->is_array()) return;
  device_->objects.clear();
  for (const auto& row : *rows) {
    if (!row.is_object()) continue;
    DriverObject object{text_in(row, "path"), text_in(row, "identity"), 0, 0};
    if (row.contains("size") && row["size"].is_number()) object.size = row["size"].get<uint64_t>();
    if (row.contains("mtime_ns") && row["mtime_ns"].is_number()) {
      object.mtime_ns = row["mtime_ns"].get<int64_t>();
    }
    device_->objects.push_back(std::move(object));
  }
}

Status DeviceRunner::prepare() {
  CLVET_ASSIGN_OR_RETURN(device_->variables, driver_variables());
  if (ensure_worker()) {
    check_canary();
    read_objects();
    check_map_read();
  }
  device_->environment_key = environment_key(*device_, kernel_driver_versions());
  return {};
}

std::string DeviceRunner::key_of(const TrialCase& trial) const {
  return Journal::key_of(device_->environment_key, trial.program->key, trial.id);
}

// The indices of `cases`, those in flight first.
std::vector<size_t> DeviceRunner::order_of(const std::vector<TrialCase>& cases,
                                           const Journal& journal) const {
  std::vector<size_t> order(cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t i) {
    const JournalEntry* past = journal.find(key_of(cases[i]));
    return past && past->in_flight;
  });
  return order;
}

void DeviceRunner::note_last_uses(const std::vector<size_t>& order,
                                  const std::vector<TrialCase>& cases, const Journal& journal) {
  for (const size_t i : order) {
    const JournalEntry* past = journal.find(key_of(cases[i]));
    if (!past || !past->verdict) last_use_[cases[i].program->key] = &cases[i];
  }
}

Result<std::vector<VerdictReport>> DeviceRunner::run(const std::vector<TrialCase>& cases,
                                                     Journal& journal) {
  const std::vector<size_t> order = order_of(cases, journal);
  note_last_uses(order, cases, journal);
  CLVET_RETURN_IF_ERROR(measure_peaks(journal));
  std::vector<VerdictReport> verdicts(cases.size());
  int done = 0;
  std::vector<Group> groups = groups_of(order, cases);
  for (size_t g = 0; g < groups.size(); ++g) {
    CLVET_RETURN_IF_ERROR(choose_lane(std::span(groups).subspan(g), journal));
    for (const size_t i : groups[g].cases) {
      verdicts[i] = blank_verdict(cases[i], device_->id);
      if (!stopped_) {
        CLVET_ASSIGN_OR_RETURN(verdicts[i], decide(cases[i], journal));
        settings_.sink({EventLevel::kProgress, fmt::format("{} {}", device_->name, cases[i].id),
                        ++done, static_cast<int>(cases.size())});
      }
      verdicts[i].trial_only = cases[i].variant.manifest->trial_only;
    }
  }
  for (Lane& lane : lanes_) lane.clear();
  return verdicts;
}

}  // namespace clvet
