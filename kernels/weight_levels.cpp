#include "kernels/weight_levels.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

namespace clvet {
namespace {

constexpr int kMost = 255;  // of a level
// Of a number: its own rounding to float32 and that of the step.
constexpr double kRounding = 0x1p-22;
// Of a step that was found from one number, as a part of it.
constexpr double kNear = 1e-3;

struct Grid {
  double scale = 0, offset = 0;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double least = std::numeric_limits<double>::infinity();  // of the magnitudes above zero
  bool finite = true;
};

Range range_of(std::span<const double> column) {
  Range range;
  for (const double value : column) {
    range.finite = range.finite && std::isfinite(value);
    range.low = std::min(range.low, value);
    range.high = std::max(range.high, value);
    if (std::fabs(value) > 0) range.least = std::min(range.least, std::fabs(value));
  }
  return range;
}

// The step as the largest number has it, which knows it best; nullopt where some are no multiples.
std::optional<double> refined(std::span<const double> column, double step) {
  const double steps = 1 / step;
  double largest = 0;
  for (const double value : column) {
    const double level = value * steps;
    if (std::fabs(level - std::nearbyint(level)) > kNear) return std::nullopt;
    if (std::fabs(value) > std::fabs(largest)) largest = value;
  }
  return static_cast<float>(largest / std::nearbyint(largest * steps));
}

// -128 is the offset of most, and a power of two: its product with the scale is exact.
std::optional<Grid> grid_of(std::span<const double> column, const Range& range, double step) {
  if (!std::isnormal(step)) return std::nullopt;
  const double steps = 1 / step;
  for (const double value : column) {
    const double level = std::nearbyint(value * steps);
    if (std::fabs(step * level - value) > kRounding * std::fabs(value)) return std::nullopt;
  }
  const double low = std::nearbyint(range.low * steps), high = std::nearbyint(range.high * steps);
  if (high - low > kMost) return std::nullopt;
  return Grid{step, static_cast<float>(step * std::clamp(-128.0, high - kMost, low))};
}

// Steps that the smallest number is 1, 2, 3 ... times.
std::optional<Grid> grid_of(std::span<const double> column) {
  const Range range = range_of(column);
  if (!range.finite) return std::nullopt;
  if (!(range.low < range.high)) return Grid{0, range.low};
  for (int times = 1; times <= kMost; ++times) {
    const double step = range.least / times;
    if ((range.high - range.low) / step > kMost + kNear) return std::nullopt;
    const auto better = refined(column, step);
    const auto grid = better ? grid_of(column, range, *better) : std::nullopt;
    if (grid) return grid;
  }
  return std::nullopt;
}

}  // namespace

std::optional<WeightLevels> levels_of(std::span<const double> weights, int64_t columns) {
  constexpr size_t kSide = 8;  // columns that share the lines of a cache
  const auto width = static_cast<size_t>(columns);
  const size_t rows = width == 0 ? 0 : weights.size() / width;
  if (rows == 0) return std::nullopt;
  WeightLevels levels;
  std::vector<double> side(kSide * rows);
  for (size_t first = 0; first < width; first += kSide) {
    const size_t count = std::min(kSide, width - first);
    for (size_t row = 0; row < rows; ++row) {
      const double* from = weights.data() + row * width + first;
      for (size_t c = 0; c < count; ++c) side[c * rows + row] = from[c];
    }
    for (size_t c = 0; c < count; ++c) {
      const auto grid = grid_of(std::span(side).subspan(c * rows, rows));
      if (!grid) return std::nullopt;
      levels.scales.push_back(static_cast<float>(grid->scale));
      levels.offsets.push_back(static_cast<float>(grid->offset));
    }
  }
  return levels;
}

}  // namespace clvet
