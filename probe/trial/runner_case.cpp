// The part of DeviceRunner that brings one case to its verdict.
#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "probe/process/process.h"
#include "probe/process/stage_page.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "probe/trial/canary.h"
#include "probe/trial/cases.h"
#include "probe/trial/judge.h"
#include "probe/trial/lane.h"
#include "probe/trial/material.h"
#include "probe/trial/opening.h"
#include "probe/trial/request.h"
#include "probe/trial/runner.h"
#include "probe/worker/journal.h"
#include "probe/worker/protocol.h"
#include "probe/worker/supervisor.h"

namespace clvet {
namespace {

constexpr int kMaxAttempts = 2;

// A program does not depend on the shape: if its build failed for one shape, it fails for all.
bool concerns_program(const VerdictReport& verdict) {
  const bool before_run = verdict.stage == Stage::kBuild || verdict.stage == Stage::kCreateKernel;
  return before_run && verdict.verdict != Verdict::kPass && verdict.verdict != Verdict::kToolError;
}

// Found the same twice, or not to be asked twice.
bool wants_second_attempt(Verdict verdict) {
  return verdict == Verdict::kCrash || verdict == Verdict::kHang ||
         verdict == Verdict::kOutOfMemory || verdict == Verdict::kToolError;
}

std::string fault_of(const Outcome& outcome) {
  return outcome.kind == OutcomeKind::kReply ? text_in(outcome.reply, "fault") : std::string();
}

Error worker_fault(const Outcome& outcome) {
  return {ErrorCode::kInternal,
          fmt::format("a worker process cannot do its part: {}; free memory, or raise the limit of "
                      "open files (ulimit -n), and probe again, which keeps the finished cases",
                      fault_of(outcome)),
          0};
}

// Of a case that was `first` and then something else; its evidence is that of a failure.
void call_nondeterministic(Verdict first, Verdict then, VerdictReport& verdict) {
  Evidence& evidence = verdict.evidence;
  verdict.verdict = Verdict::kNondeterministic;
  evidence.note =
      fmt::format("{}; {} at first, then {}", evidence.note.empty() ? evidence.call : evidence.note,
                  to_string(first), to_string(then));
}

bool is_quicker(const std::optional<double>& ms, const std::optional<double>& than_ms) {
  return ms && (!than_ms || *ms < *than_ms);
}

// What was timed together stays together: launches that are waited for, and those that are not,
// each with the empty ones in turn with them.
void take_quicker_times(const VerdictReport& again, VerdictReport& verdict) {
  if (is_quicker(again.median_ms, verdict.median_ms)) {
    verdict.median_ms = again.median_ms;
    verdict.spread_ms = again.spread_ms;
    verdict.launch_ms = again.launch_ms;
    verdict.gflops = again.gflops;
  }
  if (is_quicker(again.piped_ms, verdict.piped_ms)) {
    verdict.piped_ms = again.piped_ms;
    verdict.piped_launch_ms = again.piped_launch_ms;
  }
}

}  // namespace

VerdictReport DeviceRunner::device_failure(const TrialCase& trial) const {
  VerdictReport verdict = blank_verdict(trial, device_->id);
  verdict.verdict = device_fault_->verdict;
  verdict.stage = device_fault_->stage;
  verdict.evidence = device_fault_->evidence;
  return verdict;
}

std::optional<VerdictReport> DeviceRunner::known_verdict(const TrialCase& trial) {
  if (!trial.unsupported.empty()) {
    VerdictReport verdict = blank_verdict(trial, device_->id);
    verdict.verdict = Verdict::kUnsupported;
    verdict.evidence.note = trial.unsupported;
    return verdict;
  }
  if (device_fault_ && !lane().alive()) return device_failure(trial);
  VerdictReport verdict = blank_verdict(trial, device_->id);
  const auto broken = broken_programs_.find(trial.program->key);
  if (broken == broken_programs_.end()) {
    verdict.evidence.note = blame_.why_not(makeup_of(trial));
    if (verdict.evidence.note.empty()) return std::nullopt;
    verdict.verdict = Verdict::kNotTried;
    return verdict;
  }
  verdict.verdict = broken->second.verdict;
  verdict.stage = broken->second.stage;
  verdict.evidence = broken->second.evidence;
  verdict.evidence.note = fmt::format("{}; found with the same program in {}",
                                      verdict.evidence.note, broken->second.case_name);
  return verdict;
}

void DeviceRunner::learn(const TrialCase& trial, const VerdictReport& verdict) {
  if (concerns_program(verdict)) broken_programs_.try_emplace(trial.program->key, verdict);
  blame_.note(makeup_of(trial), verdict);
}

bool DeviceRunner::is_never_fast(const TrialCase& trial) const {
  return is_processor(*device_) && wants_images(trial.variant);
}

bool DeviceRunner::is_last_of_program(const TrialCase& trial) const {
  return last_uses_.contains(&trial);
}

Result<DeviceRunner::Attempt> DeviceRunner::prepare_attempt(const TrialCase& trial) {
  Attempt made;
  CLVET_ASSIGN_OR_RETURN(made.material, materials_->get(trial));
  CLVET_ASSIGN_OR_RETURN(made.prepared, prepare_trial(trial, *made.material));
  return made;
}

void DeviceRunner::note_build(const Outcome& outcome) {
  if (outcome.kind == OutcomeKind::kReply && outcome.reply.contains("build_ms")) {
    slowest_build_ = std::max(slowest_build_, outcome.wall_seconds);
  }
}

Result<VerdictReport> DeviceRunner::attempt(const TrialCase& trial, bool careful) {
  auto ready = prepared_.extract(&trial);
  CLVET_ASSIGN_OR_RETURN(
      Attempt made, ready ? Result<Attempt>(std::move(ready.mapped())) : prepare_attempt(trial));
  TrialRequest request = made.prepared.request;
  request.careful = careful;
  request.release_program = is_last_of_program(trial);
  // There is no empty launch to be timed in turn with them.
  if (is_processor(*device_)) request.timing_seconds /= is_never_fast(trial) ? 5 : 2;
  // Where the empty kernel came through when it was measured alone.
  request.beside_idle = !is_processor(*device_) && device_->peaks.launch_us;
  limit_copies(request, room_for_copies(*device_));
  ++totals_.attempts;
  made.outcome = ask(to_message(request), raw_fds(made.prepared));
  // What a worker cannot do may be the doing of the driver in it, and once more in a new one not.
  if (!fault_of(made.outcome).empty()) {
    lane().end_worker();
    if (ensure_worker()) made.outcome = ask(to_message(request), raw_fds(made.prepared));
    if (!fault_of(made.outcome).empty() && !stopped_) give_up(worker_fault(made.outcome));
  }
  if (stopped_) {
    VerdictReport verdict = blank_verdict(trial, device_->id);
    verdict.evidence.note = "not finished: the probe was stopped";
    return verdict;
  }
  note_build(made.outcome);
  if (made.outcome.kind != OutcomeKind::kReply) lane().end_worker();
  CLVET_ASSIGN_OR_RETURN(VerdictReport verdict,
                         judge(trial, *made.material, made.prepared, made.outcome, device_->id));
  doubt_times(*device_, verdict);
  answered_ = answered_ || verdict.repeats > 0;  // its outputs were read
  if (request.repeats > 0 && is_timed_again(trial, verdict)) keep(trial, std::move(made));
  return verdict;
}

VerdictReport DeviceRunner::brought_down(const TrialCase& trial, const JournalEntry& past) const {
  VerdictReport verdict = blank_verdict(trial, device_->id);
  const StageSnapshot& last = settings_.left_behind;
  const bool machine = past.careful && past.boot_id != boot_id();
  verdict.verdict = machine ? Verdict::kBoardReset : Verdict::kInterrupted;
  verdict.stage = last.stage.value_or(Stage::kBuild);
  verdict.evidence.call = last.call;
  verdict.evidence.note =
      machine ? "the machine restarted twice while this case was running; 'clvet probe --fresh' "
                "tries it again"
              : "the probe ended twice while this case was running; 'clvet probe --fresh' tries it "
                "again";
  verdict.attempts = past.interruptions;
  return verdict;
}

// Or takes what was found when the case was begun beside others.
Result<VerdictReport> DeviceRunner::try_once(const TrialCase& trial,
                                             const std::optional<VerdictReport>& ahead,
                                             Tries& tries) {
  ++tries.attempts;
  if (ahead) ++totals_.attempts;
  CLVET_ASSIGN_OR_RETURN(VerdictReport verdict,
                         ahead ? Result<VerdictReport>(*ahead) : attempt(trial, tries.careful));
  tries.confirmed = false;
  if (!stopped_ && !tries.again && may_be_of_company(verdict, ahead.has_value())) {
    CLVET_ASSIGN_OR_RETURN(verdict, attempt_alone(trial, verdict, tries.confirmed));
    if (tries.confirmed && wants_second_attempt(verdict.verdict)) ++tries.attempts;
  }
  if (!stopped_ && verdict.verdict != Verdict::kPass) check_disk();
  if (stopped_) return verdict;
  verdict.attempts = tries.attempts;
  if (tries.earlier && verdict.verdict != tries.earlier->verdict) {
    const Verdict then = std::exchange(verdict, *tries.earlier).verdict;
    verdict.attempts = tries.attempts;
    call_nondeterministic(tries.earlier->verdict, then, verdict);
  }
  return verdict;
}

Result<VerdictReport> DeviceRunner::try_often_enough(const TrialCase& trial, Journal& journal,
                                                     const std::string& key, Tries tries) {
  auto begun = begun_.extract(trial.id);
  for (;;) {
    const std::optional<VerdictReport> ahead = begun ? begun.mapped() : std::nullopt;
    if (!ahead && !ensure_worker()) {
      return !stopped_ && device_fault_ ? device_failure(trial) : blank_verdict(trial, device_->id);
    }
    CLVET_RETURN_IF_ERROR(journal.begin(key, tries.attempts + 1, tries.careful));
    begun = {};
    CLVET_ASSIGN_OR_RETURN(VerdictReport verdict, try_once(trial, ahead, tries));
    if (stopped_) return verdict;
    const bool again = !tries.earlier && !tries.confirmed && tries.attempts < kMaxAttempts &&
                       wants_second_attempt(verdict.verdict);
    const bool lost = endangers_device(verdict.verdict) && !canary_lives();
    if (lost) {
      lose_device(trial.id, verdict);
      if (lost_by_ != trial.id) return device_failure(trial);
    }
    CLVET_RETURN_IF_ERROR(journal.end(key, verdict, !again));
    if (!again || lost || stopped_) return verdict;
    tries.earlier = verdict;
  }
}

Result<VerdictReport> DeviceRunner::try_case(const TrialCase& trial, Journal& journal,
                                             const std::string& key) {
  const JournalEntry* past = journal.find(key);
  if (!past) return try_often_enough(trial, journal, key, {});
  if (past->in_flight && past->interruptions >= kMaxAttempts) {
    const VerdictReport verdict = brought_down(trial, *past);
    CLVET_RETURN_IF_ERROR(journal.end(key, verdict, true));
    return verdict;
  }
  const bool reset = past->in_flight && past->boot_id != boot_id();
  return try_often_enough(trial, journal, key, {reset, past->attempts, false, past->last_attempt});
}

// If the device has not answered since several cases were begun together, the one that crashed or
// hung lost it. The errors of the others followed from that.
void DeviceRunner::lose_device(const std::string& id, const VerdictReport& verdict) {
  lost_by_ = id;
  device_fault_ = verdict;
  for (const auto& [other, ahead] : begun_) {
    if (answered_ || wants_second_attempt(device_fault_->verdict)) break;
    if (!ahead || !wants_second_attempt(ahead->verdict)) continue;
    lost_by_ = other;
    device_fault_ = ahead;
  }
  device_fault_->verdict = Verdict::kDeviceLost;
  device_fault_->evidence.note = fmt::format("the device has not answered since {}", lost_by_);
  for (Lane& lane : lanes_) lane.end_worker();
  open_failures_ = kMaxOpenFailures;
}

std::optional<VerdictReport> DeviceRunner::past_verdict(const TrialCase& trial,
                                                        const Journal& journal) const {
  const JournalEntry* past = journal.find(key_of(trial));
  if (!past || !past->verdict) return std::nullopt;
  VerdictReport verdict = *past->verdict;
  verdict.id = device_->id + "/" + trial.id;
  verdict.device = device_->id;
  return verdict;
}

Result<VerdictReport> DeviceRunner::decide(const TrialCase& trial, Journal& journal) {
  const std::string key = key_of(trial);
  if (const auto past = past_verdict(trial, journal)) return *past;
  if (auto begun = begun_.find(trial.id); trial.id == lost_by_ && begun != begun_.end()) {
    ++totals_.attempts;
    begun->second->attempts = 1;
    CLVET_RETURN_IF_ERROR(journal.end(key, *begun->second, false));
    return *begun->second;
  }
  if (auto known = known_verdict(trial)) {
    begun_.erase(trial.id);
    return *known;
  }
  CLVET_ASSIGN_OR_RETURN(VerdictReport verdict, try_case(trial, journal, key));
  if (!stopped_) learn(trial, verdict);
  return verdict;
}

// What fails now has passed before, unless it fails in a stage that it had not come to: its program
// is released after this. Where the probe is stopped meanwhile, the next one tries the case anew.
Status DeviceRunner::time_once_more(const TrialCase& trial, Journal& journal,
                                    VerdictReport& verdict) {
  if (!ensure_worker()) return {};
  const std::string key = key_of(trial);
  Tries tries;
  tries.again = true;
  CLVET_ASSIGN_OR_RETURN(VerdictReport again, try_often_enough(trial, journal, key, tries));
  again.trial_only = verdict.trial_only;
  if (!stopped_ && again.verdict == Verdict::kPass) {
    take_quicker_times(again, verdict);
    return journal.end(key, verdict, true);
  }
  if (!stopped_ && again.stage != Stage::kRelease && again.verdict != Verdict::kDeviceLost) {
    call_nondeterministic(Verdict::kPass, again.verdict, again);
    again.attempts += verdict.attempts;
  }
  verdict = std::move(again);
  if (stopped_) return {};
  learn(trial, verdict);
  return journal.end(key, verdict, true);
}

}  // namespace clvet
