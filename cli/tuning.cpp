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
constexpr int kSittings = 4;
// Where it is not plain by then which is fastest, at so many.
constexpr int kMostSittings = 6;
// Of the whole time, what a call takes that has one sitting only: a few percent of it are nothing.
constexpr double kSmallShare = 0.005;
// A kernel that was far behind in so many calls, and in no other, is not built for further ones.
constexpr int kFarCalls = 2;
// The reference of a multiplication and an addition on a slow board, at first.
constexpr double kSecondsAFlop = 1e-9;
constexpr double kHuge = std::numeric_limits<double>::infinity();
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
  std::vector<RivalTimes> found;      // of the rows, at last; empty: before the first sitting
  std::vector<SittingTimes> times;    // of the rows
  double spent = 0;                   // seconds that a kernel took in the last one
  std::optional<size_t> record = {};  // which row of the record it is
};

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
    for (const TunableCall& call : calls) {
      whole_ms_ += call.ms;
      open.push_back({.call = &call, .rows = call.rows});
    }
    for (int sitting = 0; sitting < kMostSittings && !open.empty(); ++sitting) {
      const Status sat = sit(tuner, open, sitting);
      if (!sat && (sat.error().code != ErrorCode::kUnavailable || record_.tuned.empty()))
        return sat;
      if (!sat) {
        settings_.sink({EventLevel::kWarning, sat.error().message});
        break;
      }
      std::erase_if(open, [this](const Sittings& one) { return !is_open(one); });
    }
    record_.interrupted = interrupt_requested;
    return {};
  }

  bool is_open(const Sittings& one) const {
    if (one.found.empty() || rows_to_time(one).size() < 2) return false;
    if (one.call->ms < kSmallShare * whole_ms_) return false;
    if (static_cast<int>(one.times.size()) < kSittings) return true;
    const TunedRow row = row_of(one);
    const TunedVariant& first = row.call.variants.front();
    return first.rounds > 0 && std::any_of(row.call.variants.begin(), row.call.variants.end(),
                                           [&](const TunedVariant& other) {
                                             return other.rounds > 0 &&
                                                    may_beat_tuned(other, first);
                                           });
  }

  double expected_seconds(const Sittings& one) const {
    if (one.spent > 0) return one.spent * static_cast<double>(rows_to_time(one).size());
    return flops_of(*one.call) * std::max(seconds_a_flop_.value_or(0), kSecondsAFlop);
  }

  Status sit(Tuner& tuner, std::vector<Sittings>& open, int sitting) {
    const double sittings_left = std::max(kSittings - sitting, 1);
    double shares = 0;
    for (const Sittings& one : open) shares += one.call->ms;
    for (size_t i = 0; i < open.size(); ++i) {
      if (tuner.stopped() || interrupt_requested || left() <= 0) break;
      const TunableCall& call = *open[i].call;
      tell_progress(sitting, i + 1, open.size(), call);
      const double share = shares > 0 ? call.ms / shares : 1.0 / static_cast<double>(open.size());
      shares -= call.ms;
      if (expected_seconds(open[i]) > left()) continue;
      const double seconds = std::clamp(left() * share / sittings_left, kShortest, kLongest);
      CLVET_RETURN_IF_ERROR(measure(tuner, open[i], seconds));
    }
    return {};
  }

  void tell_progress(int sitting, size_t number, size_t of, const TunableCall& call) const {
    const double elapsed = settings_.seconds - left();
    settings_.sink({EventLevel::kProgress,
                    fmt::format("{}{}/{} {}", sitting > 0 ? "again " : "", number, of, call.name),
                    static_cast<int>(elapsed), static_cast<int>(settings_.seconds)});
  }

  // Whether an earlier tuning found that kernel to be faster at this very call than what is
  // planned.
  bool won_before(const TunableCall& call, const TableRow& row) const {
    for (const TunedCall& known : report_.tuned) {
      if (known.call != call.name || known.environment_key != device_.environment_key) continue;
      const auto find = [&](const TableRow& wanted) {
        return std::find_if(known.variants.begin(), known.variants.end(), [&](const auto& one) {
          return one.variant_key == wanted.program->variant_key && one.rounds > 0;
        });
      };
      const auto one = find(row), planned = find(*call.rows.front());
      if (one == known.variants.end()) return false;
      return planned == known.variants.end() || one->median_ms < planned->median_ms;
    }
    return false;
  }

  bool is_left_out(const TunableCall& call, const TableRow& row) const {
    if (bad_.contains(row.name)) return true;
    const auto far = far_calls_.find(row.name);
    return !settings_.exhaustive && far != far_calls_.end() && far->second >= kFarCalls &&
           !won_before(call, row);
  }

  // At first all, then what is close. Where memory happens to lie can make a kernel slow for a
  // whole sitting: one that was left out for less than that much is worth another.
  std::vector<size_t> rows_to_time(const Sittings& one) const {
    constexpr double kWorthAnother = 1.5;
    const auto sums = sum_up(one.times, 0);
    double least = kHuge;
    for (const RoundTimes& sum : sums)
      if (sum.rounds > 0) least = std::min(least, sum.median_ms);
    std::vector<size_t> wanted;
    for (size_t i = 0; i < one.rows.size(); ++i) {
      const bool is_bad = !one.found.empty() && bad_.contains(one.rows[i]->name);
      const bool is_close = one.found.empty() || one.found[i].running() ||
                            (one.found[i].verdict == Verdict::kPass && sums[i].rounds > 0 &&
                             sums[i].median_ms < kWorthAnother * least);
      if (is_close && !is_bad) wanted.push_back(i);
    }
    return wanted;
  }

  // Whether few rounds are enough: one kernel is left, and none was missed.
  bool is_decided(const Sittings& one) const {
    const bool missed = std::any_of(one.found.begin(), one.found.end(), [](const RivalTimes& row) {
      return row.verdict == Verdict::kMissing;
    });
    return !missed && rows_to_time(one).size() == 1;
  }

  void note_distance(const Sittings& one) {
    for (size_t i = 0; i < one.rows.size(); ++i) {
      if (one.found[i].verdict != Verdict::kPass) continue;
      int& calls = far_calls_[one.rows[i]->name];
      calls = one.found[i].far_behind ? calls + 1 : std::numeric_limits<int>::min();
    }
  }

  Status measure(Tuner& tuner, Sittings& one, double seconds) {
    const bool is_first = one.found.empty();
    if (is_first) {
      std::erase_if(one.rows, [&](const TableRow* row) {
        return row != one.call->rows.front() && is_left_out(*one.call, *row);
      });
    }
    std::vector<size_t> wanted = rows_to_time(one);
    // Where memory lies decides, too, and what is made first lies elsewhere than what is made last.
    if (one.times.size() % 2 == 1) std::reverse(wanted.begin(), wanted.end());
    if (wanted.size() < 2) {
      if (is_first) --record_.calls;  // nothing is left to choose from
      return {};
    }
    RivalKernels rivals;
    rivals.shape = {"tune", one.call->dims, one.call->scalars};
    rivals.seconds = seconds;
    for (const size_t i : wanted) {
      rivals.variants.push_back(one.rows[i]->variant);
      rivals.programs.push_back(one.rows[i]->program);
    }
    const double started = monotonic_seconds();
    std::vector<RivalTimes> found;
    const Status measured = tuner.measure(rivals, found);
    const double spent = monotonic_seconds() - started;
    one.spent = spent / static_cast<double>(wanted.size());
    if (const double flops = flops_of(*one.call); is_first && flops > kManyFlops)
      seconds_a_flop_ = std::min(seconds_a_flop_.value_or(kHuge), 0.5 * spent / flops);
    take(wanted, std::move(found), one);
    if (is_first) note_distance(one);
    for (const size_t i : wanted) {
      if (failed(one.found[i].verdict)) CLVET_RETURN_IF_ERROR(blame(*one.rows[i], one.found[i]));
    }
    CLVET_RETURN_IF_ERROR(keep(one));
    return measured;
  }

  // In a later sitting no kernel is left out for good: at another moment it was close. But one that
  // was left out before is back where another one fails: it may have been behind that one.
  static void take(const std::vector<size_t>& rows, std::vector<RivalTimes> found, Sittings& one) {
    const bool is_later = !one.times.empty();
    one.found.resize(one.rows.size());
    SittingTimes times(one.rows.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      if (found[i].verdict == Verdict::kMissing) continue;  // there was no time
      if (is_later) found[i].behind = found[i].far_behind = false;
      times[rows[i]] = std::move(found[i].ms);
      one.found[rows[i]] = std::move(found[i]);
    }
    one.times.push_back(std::move(times));
    const bool lost = std::any_of(rows.begin(), rows.end(),
                                  [&](size_t i) { return failed(one.found[i].verdict); });
    if (!is_later || !lost) return;
    for (RivalTimes& row : one.found) row.behind = row.far_behind = false;
  }

  // The first that took part in all sittings: not behind, and not wrong at another call.
  size_t reference(const Sittings& one) const {
    for (size_t i = 0; i < one.rows.size(); ++i)
      if (one.found[i].running() && !bad_.contains(one.rows[i]->name)) return i;
    return 0;
  }

  TunedRow row_of(const Sittings& one) const {
    TunedRow row;
    row.steps = one.call->steps;
    row.call = {device_.environment_key, one.call->name, device_.name, utc_now(), {}};
    auto sums = sum_up(one.times, reference(one));
    std::vector<bool> left_out;
    for (const RivalTimes& found : one.found) left_out.push_back(found.behind);
    hold_back(left_out, sums);
    for (size_t i = 0; i < one.rows.size(); ++i) {
      const RivalTimes& found = one.found[i];
      const bool counts =
          found.verdict == Verdict::kPass && (sums[i].rounds >= kLeastRounds || is_decided(one));
      const RoundTimes times = counts ? sums[i] : RoundTimes();
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
    if (!one.record && !whole && !any_failed(one.found)) return {};
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
  double whole_ms_ = 0;                   // predicted for all calls
  std::optional<double> seconds_a_flop_;  // the least of the calls: of others more is builds
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
