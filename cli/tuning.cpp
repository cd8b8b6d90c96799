#include "cli/tuning.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/event.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/discover/discover.h"
#include "probe/host/environment.h"
#include "probe/process/process.h"
#include "probe/report/report.h"
#include "probe/report/tuned.h"
#include "probe/trial/rounds.h"
#include "probe/trial/tuner.h"
#include "probe/worker/device_route.h"
#include "probe/worker/worker_limits.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/tuning.h"
#include "runtime/plan/variant_table.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"
#include "runtime/run/tune_record.h"

namespace clvet {
namespace {

// Seconds of rounds for one call.
constexpr double kShortest = 0.05, kLongest = 2;
// Where kernels are close, the machine's state decides, too (what others do on it, how warm it is);
// it stays for longer than the rounds of a call. So each such call is measured at so many moments.
constexpr int kSittings = 3;
// A kernel that was far behind in so many calls, and in no other, is not built for further ones.
constexpr int kFarCalls = 2;
// The reference of a multiplication and an addition on a slow board, at first.
constexpr double kSecondsAFlop = 1e-9;
constexpr double kManyFlops = 1e8;  // of a call that takes longer for them than for its builds

bool failed(Verdict verdict) { return verdict != Verdict::kPass && verdict != Verdict::kMissing; }

// What speaks against a kernel wherever it is used, and not for a lack of memory.
bool is_buried(Verdict verdict) {
  return failed(verdict) && verdict != Verdict::kOutOfMemory && verdict != Verdict::kToolError;
}

Result<DeviceRoute> route_to(const DeviceReport& device, const WorkerSettings& worker) {
  if (!still_stands(device)) {
    return fail(ErrorCode::kUnavailable,
                "the driver of {} was changed since the report; run 'clvet probe' again",
                device.name);
  }
  CLVET_ASSIGN_OR_RETURN(const Discovery found, discover({{device.library}, worker}));
  for (const FoundDevice& one : found.devices) {
    const DeviceReport& report = one.report;
    const bool same = report.platform == device.platform && report.name == device.name &&
                      report.driver == device.driver && report.ordinal == device.ordinal;
    if (same) return one.route;
  }
  return fail(ErrorCode::kUnavailable, "{} does not list {} any more; run 'clvet probe' again",
              device.library, device.name);
}

double flops_of(const TunableCall& call) {
  const OpContract* contract = find_op_contract(call.op);
  const auto roles = contract ? contract->roles(call.dims) : std::vector<TensorRole>();
  const Variant& variant = call.rows.front()->variant;
  return roles ? work_of(call.op, call.dims, *roles, variant.precision,
                         variant.weight_type.value_or(WeightType::kFloat))
                     .flops
               : 0;
}

// A call with its kernels and what they took in the sittings so far.
struct Sittings {
  const TunableCall* call = nullptr;
  std::vector<const TableRow*> rows;
  std::vector<RivalTimes> times;  // of the rows; empty: before the first sitting
  double spent = 0;               // seconds of the last one
  std::optional<size_t> record;   // which row of the record it is
};

// Whether kernels are near enough to each other that another moment of the machine may tell them
// apart otherwise.
bool is_close(const RivalTimes& one) {
  return one.verdict == Verdict::kPass && !one.behind && one.times.rounds >= kLeastRounds;
}

// Whether one kernel is left, so that few rounds are enough.
bool is_decided(const std::vector<RivalTimes>& times) {
  return std::count_if(times.begin(), times.end(), [](const RivalTimes& one) {
           return one.verdict == Verdict::kPass && !one.behind;
         }) == 1;
}

// All kernels at the same pace, those that later sittings left out, too.
void sum_up(std::vector<RivalTimes>& times) {
  std::vector<TimesByRound> rounds;
  for (const RivalTimes& one : times) rounds.push_back(one.ms);
  auto ms = at_one_pace(rounds);
  for (size_t i = 0; i < times.size(); ++i) times[i].times = summarise_rounds(std::move(ms[i]));
}

class Tuning {
 public:
  Tuning(const TuningSettings& settings, const Report& report, const DeviceReport& device,
         TuneRecord& record)
      : settings_(settings), report_(report), device_(device), record_(record) {}

  Status run(std::vector<TunableCall> calls) {
    if (calls.empty()) return {};
    WorkerSettings worker{own_executable(), {}, {}, settings_.until};
    become_subreaper();
    CLVET_ASSIGN_OR_RETURN(const DeviceRoute route, route_to(device_, worker));
    CLVET_ASSIGN_OR_RETURN(
        Tuner tuner, Tuner::create(worker, route, device_, settings_.state_dir + "/tune.stage",
                                   settings_.state_dir + "/scratch.tune"));
    put_new_first(calls);
    const Status done = measure_all(tuner, calls);
    tuner.clear();
    return done;
  }

 private:
  double left() const { return settings_.until - monotonic_seconds(); }

  void put_new_first(std::vector<TunableCall>& calls) const {
    std::set<std::string> known;
    for (const TunedCall& call : report_.tuned) {
      const bool here = call.environment_key == device_.environment_key && !call.variants.empty() &&
                        call.variants.front().checked_here;
      if (here && rounds_of(call) > 0) known.insert(call.call);
    }
    std::stable_partition(calls.begin(), calls.end(),
                          [&](const TunableCall& call) { return !known.contains(call.name); });
  }

  Status measure_all(Tuner& tuner, const std::vector<TunableCall>& calls) {
    std::vector<Sittings> open;
    for (const TunableCall& call : calls) open.push_back({.call = &call, .rows = call.rows});
    for (int sitting = 0; sitting < kSittings && !open.empty(); ++sitting) {
      CLVET_RETURN_IF_ERROR(sit(tuner, open));
      std::erase_if(open, [](const Sittings& one) {
        return std::count_if(one.times.begin(), one.times.end(), is_close) < 2;
      });
    }
    record_.interrupted = interrupt_requested;
    return {};
  }

  Status sit(Tuner& tuner, std::vector<Sittings>& open) {
    double shares = 0;
    for (const Sittings& one : open) shares += one.call->ms;
    for (size_t i = 0; i < open.size(); ++i) {
      if (tuner.stopped() || interrupt_requested || left() <= 0) break;
      const TunableCall& call = *open[i].call;
      tell_progress(i + 1, open.size(), call);
      const double share = shares > 0 ? call.ms / shares : 1.0 / static_cast<double>(open.size());
      shares -= call.ms;
      if (std::max(flops_of(call) * seconds_a_flop_, open[i].spent) > left()) continue;
      CLVET_RETURN_IF_ERROR(
          measure(tuner, open[i], std::clamp(left() * share, kShortest, kLongest)));
    }
    return {};
  }

  void tell_progress(size_t number, size_t of, const TunableCall& call) const {
    const double elapsed = settings_.seconds - left();
    settings_.sink({EventLevel::kProgress, fmt::format("{}/{} {}", number, of, call.name),
                    static_cast<int>(elapsed), static_cast<int>(settings_.seconds)});
  }

  bool is_left_out(const std::string& name) const {
    if (bad_.contains(name)) return true;
    const auto far = far_calls_.find(name);
    return !settings_.exhaustive && far != far_calls_.end() && far->second >= kFarCalls;
  }

  // At first all, then what is close.
  std::vector<size_t> rows_to_time(const Sittings& one) const {
    std::vector<size_t> wanted;
    for (size_t i = 0; i < one.rows.size(); ++i) {
      if (one.times.empty() || (is_close(one.times[i]) && !bad_.contains(one.rows[i]->name)))
        wanted.push_back(i);
    }
    return wanted;
  }

  void note_distance(const Sittings& one) {
    for (size_t i = 1; i < one.rows.size(); ++i) {
      if (one.times[i].verdict != Verdict::kPass) continue;
      int& calls = far_calls_[one.rows[i]->name];
      calls = one.times[i].far_behind ? calls + 1 : std::numeric_limits<int>::min();
    }
  }

  Status measure(Tuner& tuner, Sittings& one, double seconds) {
    const bool first = one.times.empty();
    if (first) {
      std::erase_if(one.rows, [&](const TableRow* row) {
        return row != one.call->rows.front() && is_left_out(row->name);
      });
    }
    const std::vector<size_t> wanted = rows_to_time(one);
    if (wanted.size() < 2) {
      if (first) --record_.calls;  // nothing is left to choose from
      return {};
    }
    RivalKernels rivals;
    rivals.shape = {"tune", one.call->dims, one.call->scalars};
    rivals.seconds = seconds;
    for (const size_t i : wanted) {
      rivals.variants.push_back(one.rows[i]->variant);
      rivals.programs.push_back(one.rows[i]->program);
      rivals.earlier.push_back(first ? TimesByRound() : one.times[i].ms);
    }
    const double started = monotonic_seconds();
    CLVET_ASSIGN_OR_RETURN(auto times, tuner.measure(rivals));
    one.spent = monotonic_seconds() - started;
    if (const double flops = flops_of(*one.call); flops > kManyFlops)
      seconds_a_flop_ = std::max(kSecondsAFlop, 0.5 * one.spent / flops);
    one.times.resize(one.rows.size());
    std::vector<size_t> bad;
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (times[i].verdict == Verdict::kMissing) continue;  // there was no time
      if (failed(times[i].verdict)) bad.push_back(wanted[i]);
      one.times[wanted[i]] = std::move(times[i]);
    }
    sum_up(one.times);
    if (first) note_distance(one);
    CLVET_RETURN_IF_ERROR(keep(one));
    for (const size_t i : bad) CLVET_RETURN_IF_ERROR(blame(*one.rows[i], one.times[i]));
    return {};
  }

  TunedRow row_of(const Sittings& one) const {
    TunedRow row;
    row.steps = one.call->steps;
    row.call = {device_.environment_key, one.call->name, device_.name, utc_now(), {}};
    for (size_t i = 0; i < one.rows.size(); ++i) {
      const RivalTimes& found = one.times[i];
      const bool counts = found.times.rounds >= kLeastRounds || is_decided(one.times);
      const RoundTimes times =
          found.verdict == Verdict::kPass && counts ? found.times : RoundTimes();
      row.call.variants.push_back({one.rows[i]->name, one.rows[i]->program->variant_key,
                                   found.verdict, times.median_ms, times.spread_ms, times.rounds,
                                   found.verdict != Verdict::kMissing});
      row.notes.push_back(found.note);
      row.behind.push_back(found.behind);
    }
    return row;
  }

  Status keep(Sittings& one) {
    TunedRow row = row_of(one);
    const bool whole = rounds_of(row.call) > 0;
    CLVET_RETURN_IF_ERROR(keep_tuned(tuned_file(settings_.state_dir), {row.call}, whole));
    if (!one.record && !whole && !any_failed(one.times)) return {};
    if (!one.record) {
      one.record = record_.tuned.size();
      record_.tuned.emplace_back();
    }
    record_.tuned[*one.record] = std::move(row);
    return {};
  }

  static bool any_failed(const std::vector<RivalTimes>& times) {
    return std::any_of(times.begin(), times.end(),
                       [](const RivalTimes& one) { return failed(one.verdict); });
  }

  Status blame(const TableRow& row, const RivalTimes& found) {
    bad_.insert(row.name);
    settings_.sink(
        {EventLevel::kWarning, fmt::format("kernel {} is not used any more: {}: {}", row.name,
                                           to_string(found.verdict), found.note)});
    if (!is_buried(found.verdict)) return {};
    const Fault fault{
        .variant = row.name, .verdict = found.verdict, .evidence = "clvet tune: " + found.note};
    return History(settings_.state_dir).bury(tombstone_of(device_.environment_key, fault));
  }

  const TuningSettings& settings_;
  const Report& report_;
  const DeviceReport& device_;
  TuneRecord& record_;
  std::set<std::string> bad_;             // variants that failed in this session
  std::map<std::string, int> far_calls_;  // of variants: calls in which they were far behind
  double seconds_a_flop_ = kSecondsAFlop;
};

}  // namespace

void forget_times(Report& report) {
  for (TunedCall& call : report.tuned) {
    std::erase_if(call.variants, [](const TunedVariant& one) { return !failed(one.verdict); });
  }
}

Status tune_calls(const TuningSettings& settings, const Report& report, const DeviceReport& device,
                  std::vector<TunableCall> calls, TuneRecord& record) {
  record.calls = static_cast<int>(calls.size());
  return Tuning(settings, report, device, record).run(std::move(calls));
}

}  // namespace clvet
