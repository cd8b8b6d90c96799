#include "probe/trial/runner.h"

#include <sys/statvfs.h>

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
#include "probe/trial/memory_check.h"
#include "probe/trial/opening.h"
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

bool ends_worker(CapabilityVerdict verdict) {
  return verdict == CapabilityVerdict::kCrash || verdict == CapabilityVerdict::kHang;
}

// How it ended its worker; `missing` where it did not.
VerdictReport end_of(const Outcome& outcome) {
  VerdictReport end;
  end.stage = outcome.stage.stage.value_or(Stage::kExit);
  end.evidence.signal = outcome.exit.signal;
  if (outcome.kind == OutcomeKind::kEnded) end.verdict = Verdict::kCrash;
  if (outcome.kind == OutcomeKind::kHang) end.verdict = Verdict::kHang;
  if (outcome.kind == OutcomeKind::kMemory) end.verdict = Verdict::kOutOfMemory;
  return end;
}

// What brought the probe or the machine down so often is left alone.
constexpr int kMaxInterruptions = 2;

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

void DeviceRunner::give_up(const Error& error) {
  if (!own_fault_) own_fault_ = error;
  own_fault_->code = ErrorCode::kInternal;
  stopped_ = true;
}

Status DeviceRunner::own_state() const {
  if (!own_fault_) return {};
  return tl::unexpected<Error>(*own_fault_);
}

// A driver that cannot write its files fails in ways of its own.
void DeviceRunner::check_disk() {
  constexpr uint64_t kLeast = 1 << 20;
  struct statvfs disk {};
  const std::string folder = settings_.scratch.substr(0, settings_.scratch.rfind('/'));
  if (::statvfs(folder.c_str(), &disk) != 0 || disk.f_blocks == 0) return;
  if (static_cast<uint64_t>(disk.f_bavail) * disk.f_frsize >= kLeast) return;
  give_up({ErrorCode::kInternal,
           fmt::format("the disk of {} is full; free some space and probe again, which keeps the "
                       "finished cases",
                       folder),
           0});
}

WorkerSettings DeviceRunner::worker_settings() const {
  WorkerSettings worker = settings_.worker;
  const double floor = worker.limits.build.idle;
  worker.limits.build.idle =
      std::clamp(kBuildClockFactor * slowest_build_, floor, std::max(floor, kBuildClockCeiling));
  worker.limits.build.busy = std::max(worker.limits.build.busy, 2 * worker.limits.build.idle);
  return worker;
}

// Starts the lane's worker and opens the device in it. An error: no worker can be started.
Result<Outcome> DeviceRunner::open_device() {
  CLVET_RETURN_IF_ERROR(lane().start(worker_settings()));
  Outcome outcome = ask(open_message(route_, *device_));
  if (auto fault = own_fault(outcome)) return tl::unexpected<Error>(*fault);
  return outcome;
}

bool DeviceRunner::ensure_worker() {
  if (lane().alive()) return true;
  while (open_failures_ < kMaxOpenFailures && !stopped_) {
    const auto outcome = open_device();
    if (!outcome) {
      give_up(outcome.error());
      return false;
    }
    if (shows_open_device(*outcome)) {
      open_failures_ = 0;
      device_fault_.reset();
      return true;
    }
    if (!stopped_) device_fault_ = opening_failure(*outcome);
    lane().end_worker();
    ++open_failures_;
  }
  return false;
}

void DeviceRunner::check_canary() {
  auto canary = prepare_canary();
  if (!canary) return give_up(canary.error());
  const Outcome outcome = ask(to_message(canary->request), raw_fds(*canary));
  if (stopped_) return;
  const CapabilityReport found = judge_canary(*canary, outcome);
  device_->capabilities["canary"] = found;
  blame_.note_canary(found.verdict, end_of(outcome));
}

bool DeviceRunner::canary_lives() {
  lane().end_worker();  // what went wrong may have spoilt this process, and not the device
  if (!ensure_worker()) return stopped_;
  // Where it never lived, its end says nothing new and takes as long as a hang.
  const auto at_first = device_->capabilities.find("canary");
  if (at_first != device_->capabilities.end() && ends_worker(at_first->second.verdict)) return true;
  auto canary = prepare_canary();
  if (!canary) {
    give_up(canary.error());
    return true;
  }
  const Outcome outcome = ask(to_message(canary->request), raw_fds(*canary));
  if (stopped_) return true;
  const auto found = judge_canary(*canary, outcome);
  if (outcome.kind == OutcomeKind::kUnreapable) return false;
  if (found.verdict == CapabilityVerdict::kFalse) return ++canary_errors_ < 2 && canary_lives();
  canary_errors_ = 0;
  answered_ = answered_ || !ends_worker(found.verdict);
  return true;
}

CapabilityReport DeviceRunner::judge_memory(const MemoryCheck& check, const Outcome& outcome) {
  CapabilityReport found;
  found.claimed = true;
  if (outcome.kind == OutcomeKind::kHang) {
    found.verdict = CapabilityVerdict::kHang;
    found.evidence = outcome.stage.call;
  } else if (outcome.kind != OutcomeKind::kReply) {
    found.verdict = CapabilityVerdict::kCrash;
    found.evidence =
        fmt::format("signal {} ended the process in {}", outcome.exit.signal, outcome.stage.call);
  } else if (text_in(outcome.reply, "verdict") == to_string(Verdict::kLie)) {
    found.verdict = CapabilityVerdict::kWrong;
    found.evidence = fmt::format("lie: {}", text_in(outcome.reply, "note"));
  } else if (outcome.reply.contains("verdict")) {
    found.verdict = CapabilityVerdict::kFalse;
    found.evidence = cl_error_name(static_cast<int>(number_in(outcome.reply, "cl_error")));
  } else {
    found.evidence = check.fault();
    found.verdict = found.evidence.empty() ? CapabilityVerdict::kTrue : CapabilityVerdict::kWrong;
  }
  return found;
}

void DeviceRunner::check_memory() {
  constexpr size_t kLaunches = 2;
  for (const std::string& kind : memory_checks_of(*device_)) {
    if (!ensure_worker()) return;
    const auto check = MemoryCheck::create(kind, shows_true(*device_, "canary") ? kLaunches : 0);
    if (!check) return give_up(check.error());
    const Outcome outcome = ask(check->request(), check->fds());
    if (stopped_) return;
    device_->capabilities[kind] = judge_memory(*check, outcome);
  }
}

// Peaks are no case, but they stand in the journal like one: where the machine went down while they
// were measured, or the probe did twice, they are left alone.
Status DeviceRunner::measure_peaks(Journal& journal) {
  const auto requests = peak_requests(*device_);
  const std::string key = Journal::key_of(device_->environment_key, "peaks", "peaks");
  const JournalEntry* past = journal.find(key);
  const bool harmful = past && ((past->in_flight && past->boot_id != boot_id()) ||
                                past->interruptions >= kMaxInterruptions);
  if (requests.empty() || harmful) return {};
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

void DeviceRunner::examine() {
  if (!ensure_worker()) return;
  check_canary();
  if (!stopped_) read_objects();
  if (!stopped_) check_memory();
}

void DeviceRunner::refuse_device() {
  device_fault_ = VerdictReport();
  device_fault_->verdict = Verdict::kInterrupted;
  device_fault_->stage = settings_.left_behind.stage.value_or(Stage::kContext);
  device_fault_->evidence.call = settings_.left_behind.call;
  device_fault_->evidence.note =
      "the probe ended twice while this device was opened and examined; 'clvet probe --fresh' "
      "tries "
      "it again";
  open_failures_ = kMaxOpenFailures;
}

// What is done here stands in the journal like a case, too.
Status DeviceRunner::prepare(Journal& journal) {
  CLVET_ASSIGN_OR_RETURN(device_->variables, driver_variables());
  const std::string key =
      Journal::key_of(device_->name + device_->driver, device_->library, "prepare");
  const JournalEntry* past = journal.find(key);
  const bool known = past && past->verdict && forbids_retry(past->verdict->verdict);
  if (known || (past && past->interruptions >= kMaxInterruptions)) {
    refuse_device();
    CLVET_RETURN_IF_ERROR(journal.end(key, *device_fault_, true));
  } else {
    CLVET_RETURN_IF_ERROR(journal.begin(key, 1, false));
    examine();
    CLVET_RETURN_IF_ERROR(own_state());
    VerdictReport done;
    done.verdict = Verdict::kPass;
    if (!stopped_) CLVET_RETURN_IF_ERROR(journal.end(key, done, true));
  }
  device_->environment_key = environment_key(*device_, kernel_driver_versions());
  return {};
}

std::string DeviceRunner::key_of(const TrialCase& trial) const {
  return Journal::key_of(device_->environment_key, trial.program->key, trial.id);
}

// The indices of `cases`, those last that an earlier session did not survive.
std::vector<size_t> DeviceRunner::order_of(const std::vector<TrialCase>& cases,
                                           const Journal& journal) const {
  std::vector<size_t> order(cases.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_partition(order.begin(), order.end(), [&](size_t i) {
    const JournalEntry* past = journal.find(key_of(cases[i]));
    return !past || !past->in_flight;
  });
  return order;
}

void DeviceRunner::note_last_uses(const std::vector<Group>& groups,
                                  const std::vector<TrialCase>& cases, const Journal& journal) {
  for (const Group& group : groups) {
    if (wants_times(group, cases)) continue;  // its program is released after the second time
    const auto last = std::find_if(group.cases.rbegin(), group.cases.rend(), [&](size_t i) {
      return cases[i].unsupported.empty() && !past_verdict(cases[i], journal);
    });
    if (last != group.cases.rend()) last_uses_.insert(&cases[*last]);
  }
}

void DeviceRunner::learn_from(const Journal& journal, const std::vector<TrialCase>& cases) {
  for (const TrialCase& trial : cases) {
    if (const auto past = past_verdict(trial, journal)) learn(trial, *past);
  }
}

// First those that were begun already; what is suspected after what is not; last what an earlier
// session did not survive.
void DeviceRunner::put_in_order(std::span<Group> groups, const Journal& journal) const {
  const auto place = [&](const Group& group) {
    if (group.lane) return 0;
    if (!group.first) return 1;
    const JournalEntry* past = journal.find(key_of(*group.first));
    if (past && past->in_flight) return 3;
    return blame_.suspects(makeup_of(*group.first)) ? 2 : 1;
  };
  std::stable_sort(groups.begin(), groups.end(),
                   [&](const Group& a, const Group& b) { return place(a) < place(b); });
}

Status DeviceRunner::try_group(const Group& group, const std::vector<TrialCase>& cases,
                               Journal& journal, std::vector<VerdictReport>& verdicts) {
  for (const size_t i : group.cases) {
    if (stopped_) {
      verdicts[i] = past_verdict(cases[i], journal).value_or(blank_verdict(cases[i], device_->id));
    } else {
      // Not one that an earlier session has begun, which it may not have survived.
      const bool fresh = journal.find(key_of(cases[i])) == nullptr;
      CLVET_ASSIGN_OR_RETURN(verdicts[i], decide(cases[i], journal));
      if (fresh && is_timed_again(cases[i], verdicts[i])) timed_.push_back({i, lane_});
      settings_.sink({EventLevel::kProgress, fmt::format("{} {}", device_->name, cases[i].id),
                      ++done_, static_cast<int>(cases.size())});
    }
    prepared_.erase(&cases[i]);
    verdicts[i].trial_only = cases[i].variant.manifest->trial_only;
  }
  return release_unwanted(group, cases, journal, verdicts);
}

Result<std::vector<VerdictReport>> DeviceRunner::run(const std::vector<TrialCase>& cases,
                                                     Journal& journal) {
  learn_from(journal, cases);
  std::vector<Group> groups = groups_of(order_of(cases, journal), cases);
  note_last_uses(groups, cases, journal);
  CLVET_RETURN_IF_ERROR(measure_peaks(journal));
  std::vector<VerdictReport> verdicts(cases.size());
  for (size_t g = 0; g < groups.size(); ++g) {
    const auto rest = std::span(groups).subspan(g);
    put_in_order(rest, journal);
    if (!groups[g].lane) CLVET_RETURN_IF_ERROR(time_again(cases, journal, verdicts));
    CLVET_RETURN_IF_ERROR(choose_lane(rest, cases, journal));
    prepare_together(rest, cases, journal);
    CLVET_RETURN_IF_ERROR(try_group(groups[g], cases, journal, verdicts));
  }
  CLVET_RETURN_IF_ERROR(time_again(cases, journal, verdicts));
  for (Lane& lane : lanes_) lane.clear();
  CLVET_RETURN_IF_ERROR(own_state());
  return verdicts;
}

}  // namespace clvet
