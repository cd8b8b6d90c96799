#include "probe/trial/tuner.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/numbers.h"
#include "base/result.h"
#include "kernels/launch_batch.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "probe/report/tuned.h"
#include "probe/trial/canary.h"
#include "probe/trial/cases.h"
#include "probe/trial/judge.h"
#include "probe/trial/lane.h"
#include "probe/trial/material.h"
#include "probe/trial/opening.h"
#include "probe/trial/request.h"
#include "probe/trial/rounds.h"
#include "probe/worker/device_route.h"
#include "probe/worker/protocol.h"
#include "probe/worker/supervisor.h"
#include "probe/worker/worker_limits.h"

namespace clvet {
namespace {

// The last reading of each output is the first one, guards and all.
bool left_the_same(const PreparedTrial& prepared, const std::vector<Mapping>& outputs) {
  const auto last = static_cast<size_t>(prepared.request.readings() - 1);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const size_t size = prepared.request.memory[prepared.outputs[i]].read_bytes();
    const std::byte* bytes = outputs[i].bytes().data();
    if (std::memcmp(bytes, bytes + last * size, size) != 0) return false;
  }
  return true;
}

// The number after that of the last round of earlier sittings.
int rounds_before(const RivalKernels& rivals) {
  int before = 0;
  for (const TimesByRound& ms : rivals.earlier)
    if (!ms.empty()) before = std::max(before, ms.rbegin()->first + 1);
  return before;
}

}  // namespace

Result<Tuner> Tuner::create(const WorkerSettings& worker, const DeviceRoute& route,
                            const DeviceReport& device, const std::string& stage_path,
                            std::string scratch) {
  CLVET_ASSIGN_OR_RETURN(Lane lane, Lane::create(stage_path, std::move(scratch)));
  return Tuner(worker, route, device, std::move(lane));
}

Outcome Tuner::ask(const nlohmann::json& request, const std::vector<int>& fds) {
  Outcome outcome = lane_.call(request, fds);
  if (ends_run(outcome.kind)) stopped_ = true;
  if (outcome.kind != OutcomeKind::kReply) lane_.end_worker();
  return outcome;
}

Status Tuner::ensure_worker() {
  if (workers_ > 0 && lane_.alive()) return {};
  VerdictReport failure;
  for (int failures = 0; failures < kMaxOpenFailures; ++failures) {
    CLVET_RETURN_IF_ERROR(lane_.start(settings_));
    ++workers_;
    const Outcome outcome = ask(open_message(route_, *device_));
    if (auto fault = own_fault(outcome)) return tl::unexpected<Error>(*fault);
    if (stopped_ || shows_open_device(outcome)) return {};
    failure = opening_failure(outcome);
    lane_.end_worker();
  }
  return fail(ErrorCode::kUnavailable,
              "no kernel can be measured on {}: {}; run 'clvet probe' again", device_->name,
              failure.evidence.note);
}

Result<Tuner::Rival> Tuner::prepare(const RivalKernels& rivals, size_t index,
                                    MaterialStore& materials) {
  Rival rival;
  TrialCase& trial = rival.trial;
  trial.variant = rivals.variants[index];
  trial.program = rivals.programs[index];
  trial.shape = &rivals.shape;
  trial.id = trial.variant.name() + "/" + rivals.shape.name;
  if (!rivals.earlier.empty()) rival.found.ms = rivals.earlier[index];
  CLVET_ASSIGN_OR_RETURN(rival.material, materials.get(trial));
  CLVET_ASSIGN_OR_RETURN(rival.prepared,
                         prepare_trial(trial, *rival.material, static_cast<int>(index)));
  limit_copies(rival.prepared.request, room_for_copies(*device_) / rivals.variants.size());
  for (const size_t output : rival.prepared.outputs) {
    const MemoryRequest& memory = rival.prepared.request.memory[output];
    const auto readings = static_cast<uint64_t>(rival.prepared.request.readings());
    const int fd = rival.prepared.fds[static_cast<size_t>(memory.fd)].get();
    CLVET_ASSIGN_OR_RETURN(Mapping mapping, Mapping::of(fd, memory.read_bytes() * readings, false));
    rival.outputs.push_back(std::move(mapping));
  }
  return rival;
}

Status Tuner::judge_outcome(const Outcome& outcome, Rival& rival) {
  CLVET_ASSIGN_OR_RETURN(VerdictReport verdict,
                         judge(rival.trial, *rival.material, rival.prepared, outcome, device_->id));
  rival.found.verdict = verdict.verdict;
  rival.found.note = verdict.evidence.note;
  return {};
}

// Builds it and runs it for its numbers.
Status Tuner::try_one(Rival& rival, int slot) {
  CLVET_RETURN_IF_ERROR(ensure_worker());
  if (stopped_) return {};
  const Outcome outcome = ask(to_message(rival.prepared.request), raw_fds(rival.prepared));
  rival.found.verdict = Verdict::kMissing;
  if (stopped_) return {};
  rival.worker = workers_;
  // No round was run yet, so the slot holds nothing to read.
  TrialRequest& request = rival.prepared.request;
  request.slot = -1;
  const Status judged = judge_outcome(outcome, rival);
  request.slot = slot;
  return judged;
}

Status Tuner::run_round(Rival& rival, int slot, int round) {
  if (rival.worker != workers_ || !lane_.alive()) {
    CLVET_RETURN_IF_ERROR(try_one(rival, slot));
    if (stopped_ || rival.found.verdict != Verdict::kPass) return {};
  }
  const Outcome outcome = ask(to_message(RoundRequest{slot, std::max(rival.launches, 1)}));
  if (stopped_) return {};
  const bool came = outcome.kind == OutcomeKind::kReply && !outcome.reply.contains("verdict") &&
                    !outcome.reply.contains("fault");
  if (!came || !left_the_same(rival.prepared, rival.outputs)) return judge_outcome(outcome, rival);
  const double ms = number_in(outcome.reply, "ms");
  if (!std::isfinite(ms) || ms <= 0 || ms > outcome.wall_seconds * 1e3) return {};
  if (rival.launches == 0) {  // the first launch warms up
    rival.launches = std::max(launches_in_batch(ms), 1);
    return {};
  }
  rival.found.ms[round] = ms;
  return {};
}

std::vector<std::vector<double>> Tuner::times_of(const std::vector<Rival>& all) {
  std::vector<TimesByRound> kernels;
  for (const Rival& rival : all) kernels.push_back(rival.found.ms);
  return at_one_pace(kernels);
}

void Tuner::leave_out(std::vector<Rival>& all) {
  const auto ms = times_of(all);
  const std::vector<double>* fastest = nullptr;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].running() || ms[i].empty()) continue;
    if (!fastest || median(ms[i]) < median(*fastest)) fastest = &ms[i];
  }
  for (size_t i = 1; fastest && i < all.size(); ++i) {
    if (!all[i].running()) continue;
    all[i].found.far_behind = far_behind(ms[i], *fastest);
    all[i].found.behind = all[i].found.far_behind || clearly_behind(ms[i], *fastest);
  }
}

bool Tuner::may_change(const std::vector<Rival>& all) {
  auto ms = times_of(all);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i].running()) ms[i].clear();
  }
  return is_open(ms);
}

// In turn, each time from another one on, so that none has always the same neighbour.
Status Tuner::run_rounds(const RivalKernels& rivals, std::vector<Rival>& all) {
  const double until = monotonic_seconds() + rivals.seconds;
  const int before = rounds_before(rivals);
  for (int round = 0; round <= kMostRounds; ++round) {
    if (round > kLeastRounds && monotonic_seconds() > until) break;
    const auto running =
        std::count_if(all.begin(), all.end(), [](const Rival& rival) { return rival.running(); });
    if (running < 2) break;
    const int more = round - 1 - kEnoughRounds;  // the first one warms up
    if (more >= 0 && more % kMoreRounds == 0 && !may_change(all)) break;
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t index = (i + static_cast<size_t>(round)) % all.size();
      if (!all[index].running()) continue;
      CLVET_RETURN_IF_ERROR(run_round(all[index], static_cast<int>(index), before + round));
      if (stopped_) return {};
    }
    leave_out(all);
  }
  return {};
}

void Tuner::summarise(std::vector<double> ms, Rival& rival) const {
  const RoundTimes times = summarise_rounds(std::move(ms));
  rival.found.times = times;
  if (rival.found.verdict != Verdict::kPass || times.rounds == 0) return;
  VerdictReport timed;
  timed.verdict = Verdict::kPass;
  timed.median_ms = times.median_ms;
  if (rival.prepared.flops > 0) timed.gflops = rival.prepared.flops / times.median_ms * 1e-6;
  doubt_times(*device_, timed);
  if (timed.verdict == Verdict::kPass) return;
  rival.found = {.verdict = timed.verdict, .note = timed.evidence.note};
}

Result<std::vector<RivalTimes>> Tuner::measure(const RivalKernels& rivals) {
  MaterialStore materials;
  std::vector<Rival> all;
  for (size_t i = 0; i < rivals.variants.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(Rival rival, prepare(rivals, i, materials));
    all.push_back(std::move(rival));
    if (!stopped_) CLVET_RETURN_IF_ERROR(try_one(all.back(), static_cast<int>(i)));
    if (interrupt_requested) stopped_ = true;
  }
  if (!stopped_) CLVET_RETURN_IF_ERROR(run_rounds(rivals, all));
  if (!stopped_ && lane_.alive()) ask(drop_message());
  auto ms = times_of(all);
  std::vector<RivalTimes> rows;
  for (size_t i = 0; i < all.size(); ++i) {
    summarise(std::move(ms[i]), all[i]);
    rows.push_back(std::move(all[i].found));
  }
  return rows;
}

}  // namespace clvet
