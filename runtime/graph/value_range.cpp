#include "runtime/graph/value_range.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

namespace clvet {
namespace {

// Lanes that do not wait for each other.
constexpr size_t kLanes = 16;
struct Lanes {
  std::array<float, kLanes> low, high;
  std::array<int32_t, kLanes> odd{};  // whether one was no number

  void take(size_t lane, float value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
    odd[lane] |= value != value ? 1 : 0;
  }
};

}  // namespace

ValueRange range_of(std::span<const float> values) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Lanes lanes;
  lanes.low.fill(kInfinity);
  lanes.high.fill(-kInfinity);
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes.take(lane, values[i + lane]);
  }
  for (; i < values.size(); ++i) lanes.take(0, values[i]);
  return {*std::min_element(lanes.low.begin(), lanes.low.end()),
          *std::max_element(lanes.high.begin(), lanes.high.end()),
          std::any_of(lanes.odd.begin(), lanes.odd.end(), [](int32_t odd) { return odd != 0; })};
}

}  // namespace clvet
