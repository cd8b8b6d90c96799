#include "probe/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "kernels/combination.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

struct Tally {
  CombinationReport report;
  int unsupported = 0, missing = 0;
  std::map<std::string, bool>
      ops;  // those that could be tried, and whether a case of them is right
  std::map<std::string, double> best_speed;
};

void count(const VerdictReport& verdict, Tally& tally) {
  ++tally.report.planned;
  if (verdict.verdict != Verdict::kUnsupported)
    tally.ops[verdict.op] |= verdict.verdict == Verdict::kPass;
  if (verdict.verdict == Verdict::kPass) {
    ++tally.report.passed;
    double& speed = tally.best_speed[verdict.op];
    speed = std::max(speed, verdict.gflops.value_or(0));
    return;
  }
  if (verdict.verdict == Verdict::kUnsupported) {
    ++tally.unsupported;
    tally.report.reason = verdict.evidence.note;
    return;
  }
  if (verdict.verdict == Verdict::kMissing) ++tally.missing;
  tally.report.failed_cases.push_back(verdict.case_name);
}

void finish(Tally& tally) {
  CombinationReport& report = tally.report;
  const int tried = report.planned - tally.unsupported;
  if (tried == 0) {
    report.status = CombinationStatus::kUnsupported;
  } else if (report.passed == tried) {
    report.status = CombinationStatus::kPass;
    report.reason.clear();
  } else if (report.passed > 0) {
    report.status = CombinationStatus::kPartial;
  } else {
    report.status = tally.missing == tried ? CombinationStatus::kMissing : CombinationStatus::kFail;
  }
  for (const auto& [op, speed] : tally.best_speed) {
    if (speed > 0) report.speed[op] = speed;
  }
}

// One figure to rank combinations: the geometric mean over the matrix ops, which every one has.
double score(const CombinationReport& report) {
  double logarithms = 0;
  int count = 0;
  for (const auto& [op, speed] : report.speed) {
    if (op != "gemm" && op != "gemv") continue;
    logarithms += std::log(speed);
    ++count;
  }
  return count == 0 ? 0 : std::exp(logarithms / count);
}

// How far a combination is known to be right.
enum class Known { kWrong, kSoFar, kWhole };

Known known(const Tally& tally) {
  if (tally.report.status == CombinationStatus::kPass) return Known::kWhole;
  if (tally.report.status == CombinationStatus::kUnsupported) return Known::kWrong;
  const bool only_missing = static_cast<int>(tally.report.failed_cases.size()) == tally.missing;
  const bool each_op =
      std::all_of(tally.ops.begin(), tally.ops.end(), [](const auto& row) { return row.second; });
  return only_missing && each_op ? Known::kSoFar : Known::kWrong;
}

// With the ops that work at this precision and activation storage but have no weights.
Known known_with_companions(const std::vector<Tally>& all, const Tally& tally) {
  Known least = known(tally);
  for (const Tally& other : all) {
    const Combination &own = tally.report.combination, &its = other.report.combination;
    const bool companion =
        !its.memory && its.precision == own.precision && its.activations == own.activations;
    if (companion) least = std::min(least, known(other));
  }
  return least;
}

std::string speeds_of(const CombinationReport& report) {
  std::string speeds;
  for (const auto& [op, speed] : report.speed) {
    speeds += fmt::format("{}{} {} GFLOP/s", speeds.empty() ? "" : ", ", op, three_digits(speed));
  }
  return speeds;
}

// Wholly known ones go before those that are right so far.
std::optional<BestReport> best_of(const std::vector<Tally>& all) {
  const CombinationReport* best = nullptr;
  Known best_known = Known::kWrong;
  for (const Tally& tally : all) {
    const CombinationReport& report = tally.report;
    const Known found = known_with_companions(all, tally);
    if (!report.combination.memory || found == Known::kWrong || found < best_known) continue;
    if (best && found == best_known && score(report) <= score(*best)) continue;
    best = &report;
    best_known = found;
  }
  if (!best) return std::nullopt;
  const std::string speeds = speeds_of(*best);
  if (best_known == Known::kWhole)
    return BestReport{best->combination,
                      fmt::format("fastest of those with every case right: {}", speeds)};
  return BestReport{
      best->combination,
      fmt::format("right so far: {} of {} cases were tried, of every operation one at "
                  "least, and none failed: {}",
                  best->passed, best->planned, speeds)};
}

}  // namespace

void summarise_device(const std::vector<VerdictReport>& verdicts, DeviceReport& device) {
  std::map<Combination, Tally> tallies;
  for (const VerdictReport& verdict : verdicts) {
    if (verdict.trial_only) continue;
    Tally& tally = tallies[verdict.combination];
    tally.report.combination = verdict.combination;
    count(verdict, tally);
  }
  device.combinations.clear();
  std::vector<Tally> all;
  for (auto& [combination, tally] : tallies) {
    finish(tally);
    device.combinations.push_back(tally.report);
    all.push_back(std::move(tally));
  }
  device.best = best_of(all);
}

}  // namespace clvet
