#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

namespace clvet {

// The least multiple of `unit` (> 0) not below `value` (>= 0).
constexpr int64_t round_up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

// The middle of `values` in order, of an even number the upper one. Not of none.
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// What work takes that nothing disturbs: a machine that is busy or asleep only lengthens it. Not of
// none.
inline double undisturbed(const std::vector<double>& times) {
  return *std::min_element(times.begin(), times.end());
}

// The number whose bytes begin at `at`, aligned or not.
template <class T>
T load(const std::byte* at) {
  static_assert(std::is_trivially_copyable_v<T>);
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

}  // namespace clvet
