#include "probe/trial/rounds.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/numbers.h"

namespace clvet {
namespace {

// By that factor, in so many rounds at least.
bool is_slower(const std::vector<double>& ratios, const std::vector<double>& fastest, double factor,
               size_t rounds) {
  if (std::min(ratios.size(), fastest.size()) < rounds) return false;
  return *std::min_element(ratios.begin(), ratios.end()) > factor * median(fastest);
}

double quartile_range(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
  };
  return at(0.75) - at(0.25);
}

// Of the mean of these values; 0 of fewer than two.
double standard_error(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  if (n < 2) return 0;
  double mean = 0, squares = 0;
  for (const double value : values) mean += value / n;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1) / n);
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

}  // namespace

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

bool far_behind(const std::vector<double>& ratios, const std::vector<double>& fastest) {
  return is_slower(ratios, fastest, 8, 2);
}

bool clearly_behind(const std::vector<double>& ratios, const std::vector<double>& fastest) {
  return is_slower(ratios, fastest, 1.15, kLeastRounds);
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

}  // namespace clvet
