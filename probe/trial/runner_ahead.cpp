// The part of DeviceRunner that begins the next programs beside each other.
#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/threads.h"
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
#include "probe/worker/supervisor.h"

namespace clvet {

std::vector<DeviceRunner::Group> DeviceRunner::groups_of(
    const std::vector<size_t>& order, const std::vector<TrialCase>& cases) const {
  std::vector<Group> groups;
  for (const size_t i : order) {
    const std::string& program = cases[i].program->key;
    if (groups.empty() || cases[groups.back().cases.front()].program->key != program) {
      groups.emplace_back();
    }
    groups.back().cases.push_back(i);
  }
  for (Group& group : groups) {
    if (is_processor(*device_)) {
      std::ranges::stable_partition(group.cases, [&](size_t i) { return !cases[i].timed; });
    }
    const auto first =
        std::ranges::find_if(group.cases, [&](size_t i) { return cases[i].unsupported.empty(); });
    if (first != group.cases.end()) group.first = &cases[*first];
  }
  return groups;
}

// Opens the device in the lanes that have no worker. Those where it cannot be opened go: a driver
// refuses a second process, or the machine is too small for one.
void DeviceRunner::open_lanes(size_t wanted) {
  lane_ = 0;
  if (!ensure_worker()) return keep_one_lane();
  while (++lane_ < std::min(wanted, lanes_.size())) {
    if (lane().alive()) continue;
    const auto outcome = open_device();
    if (stopped_) break;
    if (!outcome || !shows_open_device(*outcome)) {
      lanes_.erase(lanes_.begin() + static_cast<ptrdiff_t>(lane_), lanes_.end());
    }
  }
  lane_ = 0;
}

// Nothing is known of it.
bool DeviceRunner::is_fresh(const TrialCase& trial, const Journal& journal) {
  return !known_verdict(trial) && !journal.find(key_of(trial));
}

size_t DeviceRunner::groups_in_lane() const { return is_processor(*device_) ? 32 : 4; }

// The next groups, a few a lane, that begin with a case of which nothing is known.
std::vector<DeviceRunner::Group*> DeviceRunner::next_to_begin(std::span<Group> groups,
                                                              const Journal& journal) {
  std::vector<Group*> next;
  for (Group& group : groups) {
    if (next.size() == groups_in_lane() * lanes_.size()) break;
    if (group.first && is_fresh(*group.first, journal)) next.push_back(&group);
    if (next.empty()) break;  // the first one has nothing to begin: those after it wait their turn
  }
  return next;
}

Result<DeviceRunner::Attempt> DeviceRunner::prepare_ahead(const TrialCase& trial) {
  CLVET_ASSIGN_OR_RETURN(Attempt made, prepare_attempt(trial));
  TrialRequest& request = made.prepared.request;
  request.build_only = !is_processor(*device_);
  const bool done = !request.build_only && !trial.timed;
  request.release_program = done && is_last_of_program(trial);
  request.timing_seconds = 0;
  limit_copies(request, 0);
  return made;
}

// The next group of `line`, for this lane; null where none is left, where something went wrong, or
// where the lane's worker has ended.
DeviceRunner::Group* DeviceRunner::take_group(Line& line, size_t lane) {
  const std::lock_guard lock(line.mutex);
  if (line.closed || line.next == line.groups.size() || !lanes_[lane].alive()) return nullptr;
  Group* group = line.groups[line.next++];
  group->lane = lane;
  return group;
}

// A further case of a group is run beside others too where that is all there is to do with it, on
// a processor: nothing there waits for the one device.
bool DeviceRunner::begins(const Group& group, const TrialCase& trial, const Journal& journal) {
  if (&trial != group.first && (trial.timed || !is_processor(*device_))) return false;
  return is_fresh(trial, journal);
}

// The case ready to be run; nothing where it waits for its turn.
Result<std::optional<DeviceRunner::Attempt>> DeviceRunner::take_case(Line& line, const Group& group,
                                                                     const TrialCase& trial,
                                                                     Journal& journal) {
  {
    const std::lock_guard lock(line.mutex);
    if (line.closed || !lanes_[*group.lane].alive() || !begins(group, trial, journal)) {
      return std::nullopt;
    }
  }
  CLVET_ASSIGN_OR_RETURN(Attempt made, prepare_ahead(trial));
  const std::lock_guard lock(line.mutex);
  if (line.closed) return std::nullopt;
  CLVET_RETURN_IF_ERROR(journal.begin(key_of(trial), 1, false));
  return made;
}

Status DeviceRunner::note_begun(Line& line, const Group& group, const TrialCase& trial,
                                const Outcome& outcome, std::optional<VerdictReport> verdict,
                                Journal& journal) {
  const std::lock_guard lock(line.mutex);
  take_note(outcome);
  note_build(outcome);
  if (verdict && verdict->verdict == Verdict::kPass) {
    ++totals_.attempts;
    verdict->attempts = 1;
    learn(trial, *verdict);
    return journal.end(key_of(trial), *verdict, true);
  }
  journal.stop(key_of(trial));
  // What went wrong may have spoilt the process for the programs that would follow in it.
  const bool spoilt = outcome.kind != OutcomeKind::kReply || outcome.reply.contains("fault") ||
                      (verdict && endangers_device(verdict->verdict));
  if (spoilt) lanes_[*group.lane].end_worker();
  // What is learned from a failure may keep others from being begun.
  if (stopped_ || spoilt || verdict) line.closed = true;
  begun_[trial.id] = std::move(verdict);
  return {};
}

Status DeviceRunner::begin_group(Line& line, const Group& group,
                                 const std::vector<TrialCase>& cases, Journal& journal) {
  for (const size_t i : group.cases) {
    const TrialCase& trial = cases[i];
    CLVET_ASSIGN_OR_RETURN(std::optional<Attempt> made, take_case(line, group, trial, journal));
    if (!made) continue;
    made->outcome =
        lanes_[*group.lane].call(to_message(made->prepared.request), raw_fds(made->prepared));
    auto verdict = verdict_ahead(trial, *made);
    CLVET_RETURN_IF_ERROR(
        note_begun(line, group, trial, made->outcome, std::move(verdict), journal));
  }
  return {};
}

// One group after the other, until the line is empty.
Status DeviceRunner::begin_in_lane(Line& line, size_t lane, const std::vector<TrialCase>& cases,
                                   Journal& journal) {
  while (const Group* group = take_group(line, lane)) {
    CLVET_RETURN_IF_ERROR(begin_group(line, *group, cases, journal));
  }
  return {};
}

Status DeviceRunner::begin_together(std::span<Group> groups, const std::vector<TrialCase>& cases,
                                    Journal& journal) {
  if (stopped_) return {};
  Line line;
  line.groups = next_to_begin(groups, journal);
  if (line.groups.size() < 2) return {};
  open_lanes(line.groups.size());
  const size_t lanes = std::min(line.groups.size(), lanes_.size());
  if (lanes < 2 || stopped_ || !lane().alive()) return {};
  answered_ = false;
  std::vector<Status> ended(lanes);
  in_threads(lanes, [&](size_t i) {
    ended[i] = begin_in_lane(line, i, cases, journal);
    if (!ended[i]) line.closed = true;
  });
  for (const Status& status : ended) CLVET_RETURN_IF_ERROR(status);
  return {};
}

// Of the first group, which begins beside the next ones where that can be.
Status DeviceRunner::choose_lane(std::span<Group> groups, const std::vector<TrialCase>& cases,
                                 Journal& journal) {
  if (!groups.front().lane) CLVET_RETURN_IF_ERROR(begin_together(groups, cases, journal));
  lane_ = std::min(groups.front().lane.value_or(0), lanes_.size() - 1);
  return {};
}

// Prepares the next timed cases beside each other: a thread that did so while they are timed would
// disturb. On a processor, where cases wait for it and not for a device.
void DeviceRunner::prepare_together(std::span<const Group> groups,
                                    const std::vector<TrialCase>& cases, const Journal& journal) {
  if (stopped_ || !prepared_.empty() || !is_processor(*device_)) return;
  std::vector<const TrialCase*> wanted;
  for (const Group& group : groups) {
    if (!group.lane || wanted.size() >= kPreparedCases) break;
    for (const size_t i : group.cases) {
      if (cases[i].timed && is_fresh(cases[i], journal)) wanted.push_back(&cases[i]);
    }
  }
  prepare(wanted);
}

// Of a case that was begun beside others: nothing where it has yet to be run, or to be timed.
std::optional<VerdictReport> DeviceRunner::verdict_ahead(const TrialCase& trial,
                                                         const Attempt& made) const {
  const Outcome& outcome = made.outcome;
  if (ends_run(outcome.kind) || outcome.reply.contains("fault")) return std::nullopt;
  const bool good = outcome.kind == OutcomeKind::kReply && !outcome.reply.contains("verdict");
  if (good && made.prepared.request.build_only) return std::nullopt;
  auto verdict = judge(trial, *made.material, made.prepared, outcome, device_->id);
  if (!verdict || (verdict->verdict == Verdict::kPass && trial.timed)) return std::nullopt;
  return std::move(*verdict);
}

// Whether `found` may be the fault of a second process at the device and not of the driver.
bool DeviceRunner::may_be_of_company(const VerdictReport& found, bool beside) {
  if (found.verdict == Verdict::kPass || found.verdict == Verdict::kToolError) return false;
  if (beside) return true;
  const auto other = [&](Lane& other) { return &other != &lane() && other.alive(); };
  return !company_cleared_ && std::any_of(lanes_.begin(), lanes_.end(), other);
}

// Tries again a case that failed beside other processes, or beside other programs in its own. If it
// fails alone in the same way, company was not to blame, and is not suspected again. If not, there
// is no company any more.
Result<VerdictReport> DeviceRunner::attempt_alone(const TrialCase& trial,
                                                  const VerdictReport& found, bool& confirmed) {
  for (Lane& other : lanes_) {
    if (!company_cleared_ || &other == &lane()) other.end_worker();
  }
  const bool dead = endangers_device(found.verdict) && !canary_lives();
  if (dead || stopped_ || !ensure_worker()) return found;
  CLVET_ASSIGN_OR_RETURN(VerdictReport alone, attempt(trial, false));
  if (stopped_) return alone;
  confirmed = alone.verdict == found.verdict;
  company_cleared_ = company_cleared_ || confirmed;
  if (!confirmed) keep_one_lane();
  return alone;
}

void DeviceRunner::keep_one_lane() {
  std::swap(lanes_.front(), lane());
  lanes_.erase(lanes_.begin() + 1, lanes_.end());
  lane_ = 0;
}

}  // namespace clvet
