// The part of DeviceRunner that times cases a second time, when others lie in between.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
#include "probe/process/process.h"
#include "probe/report/report.h"
#include "probe/trial/canary.h"
#include "probe/trial/cases.h"
#include "probe/trial/lane.h"
#include "probe/trial/material.h"
#include "probe/trial/request.h"
#include "probe/trial/runner.h"
#include "probe/worker/journal.h"
#include "probe/worker/supervisor.h"

namespace clvet {

bool DeviceRunner::is_timed_again(const TrialCase& trial, const VerdictReport& verdict) const {
  constexpr double kLongMs = 100;  // of a launch; one time has three at least
  return !is_never_fast(trial) && verdict.verdict == Verdict::kPass &&
         verdict.median_ms.value_or(kLongMs) < kLongMs;
}

bool DeviceRunner::wants_times(const Group& group, const std::vector<TrialCase>& cases) const {
  return std::ranges::any_of(group.cases, [&](size_t i) {
    return cases[i].timed && cases[i].unsupported.empty() && !is_never_fast(cases[i]);
  });
}

// Where the lane of `group` holds its program for a second time that will not come. If that ends
// the worker, the last case that passed is tried once more, and its program is released after it.
Status DeviceRunner::release_unwanted(const Group& group, const std::vector<TrialCase>& cases,
                                      Journal& journal, std::vector<VerdictReport>& verdicts) {
  const auto waits = [&](const Timed& timed) {
    return cases[timed.index].program->key == group.first->program->key;
  };
  if (!group.first || !wants_times(group, cases) || std::ranges::any_of(timed_, waits)) return {};
  if (!lane().alive() || stopped_) return {};
  if (ask(release_message(*group.first->program)).kind == OutcomeKind::kReply) return {};
  lane().end_worker();
  const auto last = std::find_if(group.cases.rbegin(), group.cases.rend(),
                                 [&](size_t i) { return verdicts[i].verdict == Verdict::kPass; });
  if (last == group.cases.rend() || stopped_) return {};
  last_uses_.insert(&cases[*last]);
  return time_once_more(cases[*last], journal, verdicts[*last]);
}

// With a fifth of the descriptors that this process may have: there are some six a case.
void DeviceRunner::keep(const TrialCase& trial, Attempt made) {
  const uint64_t most = descriptor_limit() / 32;
  uint64_t bytes = made.prepared.bytes();
  for (const auto& [other, kept] : kept_) bytes += kept.prepared.bytes();
  if (bytes > most_kept_ || kept_.size() >= most) return;
  kept_.insert_or_assign(&trial, std::move(made));
}

// What is not kept is prepared anew.
void DeviceRunner::take_kept(const TrialCase& trial) {
  auto found = kept_.extract(&trial);
  if (!found || !found.mapped().prepared.renew_outputs()) return;
  prepared_.emplace(&trial, std::move(found.mapped()));
}

void DeviceRunner::prepare(std::span<const TrialCase* const> wanted) {
  std::vector<Result<Attempt>> made(wanted.size());
  share_among_threads(lanes_.size(), wanted.size(),
                      [&](size_t i) { made[i] = prepare_attempt(*wanted[i]); });
  // Where there is no room for so many, or so many files, there may be for one.
  if (!std::ranges::all_of(made, [](const auto& one) { return one.has_value(); })) return;
  for (size_t i = 0; i < wanted.size(); ++i) prepared_.emplace(wanted[i], *std::move(made[i]));
}

// Each program is released behind the last of its cases.
void DeviceRunner::note_last_times(const std::vector<Timed>& timed,
                                   const std::vector<TrialCase>& cases) {
  std::set<std::string> seen;
  for (size_t t = timed.size(); t-- > 0;) {
    const TrialCase& trial = cases[timed[t].index];
    if (seen.insert(trial.program->key).second) last_uses_.insert(&trial);
  }
}

// For half as long as the first time. Its outputs are read when it was timed, and are compared.
void DeviceRunner::prepare_again(std::span<const Timed> part, const std::vector<TrialCase>& cases) {
  std::vector<const TrialCase*> wanted;
  for (const Timed& one : part) {
    take_kept(cases[one.index]);
    if (!prepared_.contains(&cases[one.index])) wanted.push_back(&cases[one.index]);
  }
  prepare(wanted);
  for (auto& [trial, ready] : prepared_) {
    ready.prepared.request.repeats = 0;
    ready.prepared.request.timing_seconds /= 2;
  }
}

Status DeviceRunner::time_again(const std::vector<TrialCase>& cases, Journal& journal,
                                std::vector<VerdictReport>& verdicts) {
  const std::vector<Timed> timed = std::exchange(timed_, {});
  note_last_times(timed, cases);
  const size_t most = is_processor(*device_) ? kPreparedCases : 1;
  for (size_t begin = 0; begin < timed.size(); begin += most) {
    const auto part = std::span(timed).subspan(begin, std::min(most, timed.size() - begin));
    if (stopped_) break;
    prepare_again(part, cases);
    for (const auto& [index, lane] : part) {
      if (stopped_) break;
      lane_ = std::min(lane, lanes_.size() - 1);
      CLVET_RETURN_IF_ERROR(time_once_more(cases[index], journal, verdicts[index]));
      prepared_.erase(&cases[index]);
    }
  }
  prepared_.clear();
  kept_.clear();
  return {};
}

}  // namespace clvet
