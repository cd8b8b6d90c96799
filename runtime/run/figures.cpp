#include "runtime/run/figures.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <optional>
#include <vector>

#include "base/numbers.h"

namespace clvet {
namespace {

// By nearest rank, of samples in order.
double percentile(const std::vector<double>& sorted, size_t percent) {
  const size_t rank = (sorted.size() * percent + 99) / 100;
  return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace

std::optional<Figures> figures_of(std::vector<double> samples) {
  if (samples.empty()) return std::nullopt;
  std::sort(samples.begin(), samples.end());
  Figures figures;
  figures.count = samples.size();
  const auto count = static_cast<double>(samples.size());
  figures.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - figures.mean) * (sample - figures.mean);
  if (samples.size() > 1) figures.sigma = std::sqrt(squares / (count - 1));
  figures.min = samples.front();
  figures.median = median(samples);
  figures.p90 = percentile(samples, 90);
  figures.p99 = percentile(samples, 99);
  figures.max = samples.back();
  return figures;
}

}  // namespace clvet
