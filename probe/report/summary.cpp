#include "probe/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "probe/report/report.h"

namespace clvet {
namespace {

struct Tally {
  CombinationReport report;
  int unsupported = 0, missing = 0;
  std::map<std::string, double> best_speed;
};

void count(const VerdictReport& verdict, Tally& tally) {
  ++tally.report.planned;
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

CombinationReport finish(Tally tally) {
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
  return report;
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

// The ops that work at this precision and activation storage but have no weights.
bool weightless_ops_pass(const std::vector<CombinationReport>& all,
                         const CombinationReport& report) {
  return std::all_of(all.begin(), all.end(), [&](const CombinationReport& other) {
    const bool companion = !other.combination.memory &&
                           other.combination.precision == report.combination.precision &&
                           other.combination.activations == report.combination.activations;
    return !companion || other.status == CombinationStatus::kPass;
  });
}

std::optional<BestReport> best_of(const std::vector<CombinationReport>& all) {
  const CombinationReport* best = nullptr;
  for (const CombinationReport& report : all) {
    if (!report.combination.memory || report.status != CombinationStatus::kPass) continue;
    if (!weightless_ops_pass(all, report)) continue;
    if (!best || score(report) > score(*best)) best = &report;
  }
  if (!best) return std::nullopt;
  std::string speeds;
  for (const auto& [op, speed] : best->speed) {
    speeds += fmt::format("{}{} {:.3g} GFLOP/s", speeds.empty() ? "" : ", ", op, speed);
  }
  return BestReport{best->combination,
                    fmt::format("fastest of those with every case right: {}", speeds)};
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
  for (auto& [combination, tally] : tallies)
    device.combinations.push_back(finish(std::move(tally)));
  device.best = best_of(device.combinations);
}

}  // namespace clvet
