#include "cli/tuning.h"

#include <algorithm>
#include <cstddef>
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
#include "probe/trial/tuner.h"
#include "probe/worker/device_route.h"
#include "probe/worker/worker_limits.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/tuning.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"
#include "runtime/run/tune_record.h"

namespace clvet {
namespace {

// Seconds of rounds for one call.
constexpr double kShortest = 0.05, kLongest = 2;
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
      if (here && rounds_of(call) >= kLeastRounds) known.insert(call.call);
    }
    std::stable_partition(calls.begin(), calls.end(),
                          [&](const TunableCall& call) { return !known.contains(call.name); });
  }

  Status measure_all(Tuner& tuner, const std::vector<TunableCall>& calls) {
    double shares = 0;
    for (const TunableCall& call : calls) shares += call.ms;
    int done = 0;
    for (const TunableCall& call : calls) {
      if (tuner.stopped() || interrupt_requested || left() <= 0) break;
      tell_progress(++done, calls.size(), call);
      const double share = shares > 0 ? call.ms / shares : 1.0 / static_cast<double>(calls.size());
      shares -= call.ms;
      if (flops_of(call) * seconds_a_flop_ > left()) continue;
      CLVET_RETURN_IF_ERROR(measure(tuner, call, std::clamp(left() * share, kShortest, kLongest)));
    }
    record_.interrupted = interrupt_requested;
    return {};
  }

  void tell_progress(int number, size_t of, const TunableCall& call) const {
    const double elapsed = settings_.seconds - left();
    settings_.sink({EventLevel::kProgress, fmt::format("{}/{} {}", number, of, call.name),
                    static_cast<int>(elapsed), static_cast<int>(settings_.seconds)});
  }

  Status measure(Tuner& tuner, const TunableCall& call, double seconds) {
    RivalKernels rivals;
    rivals.shape = {"tune", call.dims, call.scalars};
    rivals.seconds = seconds;
    for (const TableRow* row : call.rows) {
      if (row != call.rows.front() && bad_.contains(row->name)) continue;
      rivals.variants.push_back(row->variant);
      rivals.programs.push_back(row->program);
    }
    if (rivals.variants.size() < 2) return {};
    const double started = monotonic_seconds();
    CLVET_ASSIGN_OR_RETURN(const auto times, tuner.measure(rivals));
    const double spent = monotonic_seconds() - started;
    if (const double flops = flops_of(call); flops > kManyFlops)
      seconds_a_flop_ = std::max(kSecondsAFlop, 0.5 * spent / flops);
    return keep(call, rivals, times);
  }

  Status keep(const TunableCall& call, const RivalKernels& rivals,
              const std::vector<RivalTimes>& times) {
    TunedRow row;
    row.steps = call.steps;
    row.call = {device_.environment_key, call.name, device_.name, utc_now(), {}};
    for (size_t i = 0; i < times.size(); ++i) {
      const RivalTimes& one = times[i];
      const bool timed = one.verdict == Verdict::kPass && one.rounds >= kLeastRounds;
      row.call.variants.push_back({rivals.variants[i].name(), rivals.programs[i]->variant_key,
                                   one.verdict, timed ? one.median_ms : 0,
                                   timed ? one.spread_ms : 0, timed ? one.rounds : 0,
                                   one.verdict != Verdict::kMissing});
      row.notes.push_back(one.note);
      row.behind.push_back(one.behind);
      if (failed(one.verdict)) CLVET_RETURN_IF_ERROR(blame(row.call.variants.back(), one));
    }
    const std::string file = tuned_file(settings_.state_dir);
    const bool whole = rounds_of(row.call) >= kLeastRounds;
    CLVET_RETURN_IF_ERROR(keep_tuned(file, {row.call}, whole));
    if (whole || any_failed(times)) record_.tuned.push_back(std::move(row));
    return {};
  }

  static bool any_failed(const std::vector<RivalTimes>& times) {
    return std::any_of(times.begin(), times.end(),
                       [](const RivalTimes& one) { return failed(one.verdict); });
  }

  Status blame(const TunedVariant& variant, const RivalTimes& found) {
    bad_.insert(variant.variant);
    settings_.sink(
        {EventLevel::kWarning, fmt::format("kernel {} is not used any more: {}: {}",
                                           variant.variant, to_string(found.verdict), found.note)});
    if (!is_buried(found.verdict)) return {};
    const Fault fault{.variant = variant.variant,
                      .verdict = found.verdict,
                      .evidence = "clvet tune: " + found.note};
    return History(settings_.state_dir).bury(tombstone_of(device_.environment_key, fault));
  }

  const TuningSettings& settings_;
  const Report& report_;
  const DeviceReport& device_;
  TuneRecord& record_;
  std::set<std::string> bad_;  // variants that failed in this session
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
