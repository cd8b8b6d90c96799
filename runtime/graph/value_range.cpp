#include "runtime/graph/value_range.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "base/widest.h"

namespace clvet {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Lanes that do not wait for each other.
constexpr size_t kLanes = 32;
// So many that the greatest of all is sought among few.
constexpr size_t kBlock = 2048;

struct Lanes {
  std::array<float, kLanes> low, high;
  std::array<int32_t, kLanes> odd{};  // whether one was no number
};

// A block of whole kLanes.
CLVET_WIDEST void take_block(const float* values, size_t count, Lanes& found) {
  Lanes lanes = found;
  for (size_t i = 0; i < count; i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const float value = values[i + lane];
      lanes.low[lane] = value < lanes.low[lane] ? value : lanes.low[lane];
      lanes.high[lane] = value > lanes.high[lane] ? value : lanes.high[lane];
      lanes.odd[lane] |= value != value ? 1 : 0;
    }
  }
  found = lanes;
}

ValueRange range_of_block(std::span<const float> values) {
  std::array<float, kLanes> filled;
  Lanes lanes;
  lanes.low.fill(kInfinity);
  lanes.high.fill(-kInfinity);
  const size_t whole = values.size() / kLanes * kLanes;
  take_block(values.data(), whole, lanes);
  if (whole < values.size()) {
    filled.fill(values.back());
    std::ranges::copy(values.subspan(whole), filled.begin());
    take_block(filled.data(), kLanes, lanes);
  }
  return {.least = *std::ranges::min_element(lanes.low),
          .greatest = *std::ranges::max_element(lanes.high),
          .has_nan = std::ranges::any_of(lanes.odd, [](int32_t odd) { return odd != 0; })};
}

}  // namespace

ValueRange range_of(std::span<const float> values) {
  ValueRange all{.least = kInfinity, .greatest = -kInfinity};
  size_t block = 0;  // that the greatest is in
  for (size_t at = 0; at < values.size(); at += kBlock) {
    const auto [least, greatest, has_nan, place] =
        range_of_block(values.subspan(at, std::min(kBlock, values.size() - at)));
    all.has_nan |= has_nan;
    all.least = std::min(all.least, least);
    if (greatest > all.greatest) {
      all.greatest = greatest;
      block = at;
    }
  }
  const auto from = values.subspan(std::min(block, values.size()));
  const auto found = std::ranges::find(from, all.greatest);
  all.place = found == from.end() ? 0 : block + static_cast<size_t>(found - from.begin());
  return all;
}

}  // namespace clvet
