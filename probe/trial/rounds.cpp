#include "probe/trial/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/numbers.h"

namespace clvet {
namespace {

constexpr double kClearlyBehind = 1.15;

// By that factor, in so many rounds at least.
bool is_slower(const std::vector<double>& ms, const std::vector<double>& fastest, double factor,
               size_t rounds) {
  if (std::min(ms.size(), fastest.size()) < rounds) return false;
  return *std::min_element(ms.begin(), ms.end()) > factor * median(fastest);
}

double quartile_range(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return at(0.75) - at(0.25);
}

double standard_error(const std::vector<double>& values) {
  if (values.empty()) return 0;
  const double middle = median(values);
  std::vector<double> deviations;
  for (const double value : values) deviations.push_back(std::abs(value - middle));
  return 1.4826 * median(std::move(deviations)) / std::sqrt(static_cast<double>(values.size()));
}

// Of one kernel: its ratios, and the median of each sitting that has enough of them.
struct Ratios {
  std::vector<double> all, medians;
};

RoundTimes summary_of(const Ratios& ratios, double reference_ms) {
  if (ratios.all.empty()) return {};
  const double among_sittings =
      standard_error(ratios.medians) * std::sqrt(static_cast<double>(ratios.all.size()));
  const double spread = std::max(quartile_range(ratios.all), among_sittings);
  return {median(ratios.all) * reference_ms, spread * reference_ms,
          static_cast<int>(ratios.all.size())};
}

// Of each kernel, its time over the reference's in each round that has both.
std::vector<std::vector<double>> ratios_of(const SittingTimes& times, size_t reference) {
  std::vector<std::vector<double>> ratios(times.size());
  for (size_t i = 0; i < times.size(); ++i) {
    for (const auto& [round, ms] : times[i]) {
      const auto same = times[reference].find(round);
      if (same != times[reference].end()) ratios[i].push_back(ms / same->second);
    }
  }
  return ratios;
}

}  // namespace

bool far_behind(const std::vector<double>& ms, const std::vector<double>& fastest) {
  return is_slower(ms, fastest, 8, 2);
}

bool clearly_behind(const std::vector<double>& ms, const std::vector<double>& fastest) {
  return is_slower(ms, fastest, kClearlyBehind, kLeastRounds);
}

std::vector<RoundTimes> sum_up(const std::vector<SittingTimes>& sittings, size_t reference) {
  if (sittings.empty()) return {};
  std::vector<Ratios> kernels(sittings.front().size());
  std::vector<double> reference_ms;
  for (const SittingTimes& times : sittings) {
    for (const auto& [round, ms] : times[reference]) reference_ms.push_back(ms);
    const auto ratios = ratios_of(times, reference);
    for (size_t i = 0; i < ratios.size(); ++i) {
      kernels[i].all.insert(kernels[i].all.end(), ratios[i].begin(), ratios[i].end());
      if (ratios[i].size() >= static_cast<size_t>(kLeastRounds))
        kernels[i].medians.push_back(median(ratios[i]));
    }
  }
  std::vector<RoundTimes> sums;
  for (const Ratios& ratios : kernels)
    sums.push_back(reference_ms.empty() ? RoundTimes() : summary_of(ratios, median(reference_ms)));
  return sums;
}

void hold_back(const std::vector<bool>& left_out, std::vector<RoundTimes>& sums) {
  double least = 0;
  for (size_t i = 0; i < sums.size(); ++i) {
    if (left_out[i] || sums[i].rounds == 0) continue;
    least = least > 0 ? std::min(least, sums[i].median_ms) : sums[i].median_ms;
  }
  for (size_t i = 0; i < sums.size(); ++i) {
    if (left_out[i] && sums[i].rounds > 0)
      sums[i].median_ms = std::max(sums[i].median_ms, kClearlyBehind * least);
  }
}

}  // namespace clvet
