#include "probe/trial/order.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/known_issues/identity.h"
#include "probe/known_issues/known_issues.h"
#include "probe/report/device_features.h"
#include "probe/trial/cases.h"

namespace clvet {

namespace {

// Nothing that a driver need advertise; beside it what makes models small or fast on such a device.
std::vector<Combination> likely_combinations(const DeviceFeatures& features) {
  using enum Storage;
  const Combination plain{Precision::kHigh, Memory::kNormal, kBuffer, kBuffer};
  Combination next = plain;
  if (features.device_class == "cpu") {
    next.memory = Memory::kLow;
  } else {
    next.precision = features.fp16 ? Precision::kLow : Precision::kNormal;
  }
  return {plain, next};
}

// Also of ops without weights, at the same precision and storage.
bool belongs_to(const Combination& combination, const Variant& variant) {
  const Combination own = variant.combination();
  return own.precision == combination.precision && own.activations == combination.activations &&
         own.memory.value_or(*combination.memory) == combination.memory &&
         own.weights.value_or(*combination.weights) == combination.weights;
}

int place_of(const std::vector<Combination>& likely, const TrialCase& trial) {
  const auto found = std::find_if(likely.begin(), likely.end(), [&](const Combination& row) {
    return belongs_to(row, trial.variant);
  });
  const int place = 2 * static_cast<int>(found - likely.begin());
  const bool plain = trial.variant.weight_type.value_or(WeightType::kFloat) == WeightType::kFloat;
  return place + (plain ? 0 : 1);
}

// One test of each op of the first combination, by a variant that takes every call; where it can
// be, one that is timed.
std::set<const TrialCase*> first_tests(const std::vector<TrialCase>& cases,
                                       const std::vector<Combination>& likely) {
  std::map<std::string, const TrialCase*> chosen;
  for (const TrialCase& trial : cases) {
    const bool serves = trial.variant.manifest->where.empty() && trial.unsupported.empty();
    if (!serves || place_of(likely, trial) > 0) continue;
    const TrialCase*& first = chosen[trial.variant.manifest->op];
    if (!first || (trial.timed && !first->timed)) first = &trial;
  }
  std::set<const TrialCase*> tests;
  for (const auto& [op, trial] : chosen) tests.insert(trial);
  return tests;
}

}  // namespace

void put_worthy_first(const DeviceFeatures& features, bool hurry, std::vector<TrialCase>& cases) {
  const std::vector<Combination> likely = likely_combinations(features);
  std::map<std::string, int> places;  // of programs
  for (const TrialCase& trial : cases) {
    const int place = place_of(likely, trial);
    const auto [known, is_new] = places.try_emplace(trial.program->key, place);
    if (!is_new) known->second = std::min(known->second, place);
  }
  const auto tests = hurry ? first_tests(cases, likely) : std::set<const TrialCase*>{};
  std::vector<std::pair<int, const TrialCase*>> rows;
  for (const TrialCase& trial : cases) {
    rows.emplace_back(tests.contains(&trial) ? -1 : places[trial.program->key], &trial);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<TrialCase> ordered;
  for (const auto& [place, trial] : rows) ordered.push_back(*trial);
  cases = std::move(ordered);
}

void put_suspects_last(const std::vector<KnownIssue>& issues, const DeviceFacts& device,
                       std::vector<TrialCase>& cases) {
  std::vector<const KnownIssue*> known;
  for (const KnownIssue& issue : issues) {
    if (issue.grade == "A" && !issue.constructs.empty() && match_issue(issue, device))
      known.push_back(&issue);
  }
  std::stable_partition(cases.begin(), cases.end(), [&](const TrialCase& trial) {
    return std::none_of(known.begin(), known.end(), [&](const KnownIssue* issue) {
      return concerns_trial(*issue, trial.variant.manifest->op, trial.program->constructs);
    });
  });
}

}  // namespace clvet
