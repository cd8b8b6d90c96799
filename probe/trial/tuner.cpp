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

SittingTimes times_of(const std::vector<RivalTimes>& rivals) {
  SittingTimes times;
  for (const RivalTimes& rival : rivals) times.push_back(rival.ms);
  return times;
}

std::vector<double> values_of(const TimesByRound& times) {
  std::vector<double> values;
  for (const auto& [round, ms] : times) values.push_back(ms);
  return values;
}

void leave_out(std::vector<RivalTimes>& rivals) {
  const size_t reference = reference_of(rivals);
  std::vector<double> fastest;
  for (const RivalTimes& rival : rivals) {
    if (!rival.running() || rival.ms.empty()) continue;
    auto ms = values_of(rival.ms);
    if (fastest.empty() || median(ms) < median(fastest)) fastest = std::move(ms);
  }
  for (size_t i = 0; i < rivals.size(); ++i) {
    if (i == reference || !rivals[i].running()) continue;
    const auto ms = values_of(rivals[i].ms);
    rivals[i].far_behind = far_behind(ms, fastest);
    rivals[i].behind = rivals[i].far_behind || clearly_behind(ms, fastest);
  }
}

// They may have been behind one that is out now.
void take_back(std::vector<RivalTimes>& rivals) {
  for (RivalTimes& rival : rivals) rival.behind = rival.far_behind = false;
}

}  // namespace

size_t reference_of(const std::vector<RivalTimes>& rivals) {
  const auto first = std::find_if(rivals.begin(), rivals.end(),
                                  [](const RivalTimes& rival) { return rival.running(); });
  return first == rivals.end() ? 0 : static_cast<size_t>(first - rivals.begin());
}

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

Status Tuner::judge_outcome(const Outcome& outcome, Rival& rival, RivalTimes& found) {
  CLVET_ASSIGN_OR_RETURN(VerdictReport verdict,
                         judge(rival.trial, *rival.material, rival.prepared, outcome, device_->id));
  found.verdict = verdict.verdict;
  found.note = verdict.evidence.note;
  return {};
}

// Builds it and runs it for its numbers.
Status Tuner::try_one(Rival& rival, int slot, RivalTimes& found) {
  CLVET_RETURN_IF_ERROR(ensure_worker());
  if (stopped_) return {};
  const Outcome outcome = ask(to_message(rival.prepared.request), raw_fds(rival.prepared));
  if (stopped_) return {};
  rival.worker = workers_;
  // No round was run yet, so the slot holds nothing to read.
  TrialRequest& request = rival.prepared.request;
  request.slot = -1;
  const Status judged = judge_outcome(outcome, rival, found);
  request.slot = slot;
  return judged;
}

Status Tuner::run_round(Rival& rival, int slot, int round, RivalTimes& found) {
  if (rival.worker != workers_ || !lane_.alive()) {
    CLVET_RETURN_IF_ERROR(try_one(rival, slot, found));
    if (stopped_ || found.verdict != Verdict::kPass) return {};
  }
  const Outcome outcome = ask(to_message(RoundRequest{slot, std::max(rival.launches, 1)}));
  if (stopped_) return {};
  const bool came = outcome.kind == OutcomeKind::kReply && !outcome.reply.contains("verdict") &&
                    !outcome.reply.contains("fault");
  if (!came || !left_the_same(rival.prepared, rival.outputs))
    return judge_outcome(outcome, rival, found);
  const double ms = number_in(outcome.reply, "ms");
  if (!std::isfinite(ms) || ms <= 0 || ms > outcome.wall_seconds * 1e3) return {};
  if (rival.launches == 0) {  // the first launch warms up
    rival.launches = std::max(launches_in_batch(ms), 1);
    return {};
  }
  found.ms[round] = ms;
  return {};
}

// Near kernels have as many launches in a batch, so that each launch has the same part of the wait.
void Tuner::share_launches(size_t reference, std::vector<Rival>& all) {
  const int launches = all[reference].launches;
  for (Rival& rival : all) {
    const bool near =
        rival.launches > 0 && rival.launches <= 2 * launches && launches <= 2 * rival.launches;
    if (near) rival.launches = launches;
  }
}

// In turn, each time from another one on, so that none has always the same neighbour.
Status Tuner::run_rounds(double seconds, std::vector<Rival>& all, std::vector<RivalTimes>& found) {
  const double until = monotonic_seconds() + seconds;
  for (int round = 0; round <= kEnoughRounds; ++round) {  // the first one warms up
    if (round > kLeastRounds && monotonic_seconds() > until) break;
    if (std::count_if(found.begin(), found.end(), [](const auto& one) { return one.running(); }) <
        2)
      break;
    for (size_t i = 0; i < all.size(); ++i) {
      const size_t index = (i + static_cast<size_t>(round)) % all.size();
      if (!found[index].running()) continue;
      CLVET_RETURN_IF_ERROR(run_round(all[index], static_cast<int>(index), round, found[index]));
      if (stopped_) return {};
      if (found[index].verdict != Verdict::kPass) take_back(found);
    }
    if (round == 0) share_launches(reference_of(found), all);
    leave_out(found);
  }
  return {};
}

void Tuner::doubt(const std::vector<Rival>& all, std::vector<RivalTimes>& found) const {
  const auto sums = sum_up({times_of(found)}, reference_of(found));
  for (size_t i = 0; i < all.size(); ++i) {
    if (found[i].verdict != Verdict::kPass || sums[i].rounds == 0) continue;
    VerdictReport timed;
    timed.verdict = Verdict::kPass;
    const double ms = sums[i].median_ms;
    timed.median_ms = ms;
    if (all[i].prepared.flops > 0) timed.gflops = all[i].prepared.flops / ms * 1e-6;
    doubt_times(*device_, timed);
    if (timed.verdict == Verdict::kPass) continue;
    found[i].verdict = timed.verdict;
    found[i].note = timed.evidence.note;
    take_back(found);
  }
}

Status Tuner::try_all(const RivalKernels& rivals, std::vector<Rival>& all,
                      std::vector<RivalTimes>& found) {
  MaterialStore materials;
  for (size_t i = 0; i < rivals.variants.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(Rival rival, prepare(rivals, i, materials));
    all.push_back(std::move(rival));
    if (!stopped_) CLVET_RETURN_IF_ERROR(try_one(all.back(), static_cast<int>(i), found[i]));
    if (interrupt_requested) stopped_ = true;
  }
  return {};
}

Status Tuner::measure(const RivalKernels& rivals, std::vector<RivalTimes>& found) {
  found.assign(rivals.variants.size(), {});
  std::vector<Rival> all;
  CLVET_RETURN_IF_ERROR(try_all(rivals, all, found));
  const Status ran = stopped_ ? Status() : run_rounds(rivals.seconds, all, found);
  doubt(all, found);
  if (!stopped_ && lane_.alive()) ask(drop_message());
  return ran;
}

}  // namespace clvet
