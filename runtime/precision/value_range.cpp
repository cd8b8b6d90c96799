#include "runtime/precision/value_range.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/widest.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/parts.h"

namespace clvet {
namespace {

constexpr int32_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;

// Finite floats are ordered as these integers are.
constexpr int32_t ordered(int32_t bits) { return bits ^ ((bits >> 31) & kMagnitude); }
float from_ordered(int32_t key) { return std::bit_cast<float>(ordered(key)); }

constexpr int32_t kAbove = kInfinity, kBelow = ordered(kInfinity | ~kMagnitude);

// What is counted of values, as their bits.
struct Counts {
  int32_t least = kAbove, greatest = kBelow, smallest = kInfinity;
  int32_t odd = 0, nan = 0, over = 0, under = 0, gone = 0, zero = 0;
};
struct Limits {
  int32_t overflow, normal, vanish;
};

// One loop for extremes and one for counts: processors without wide vectors have few registers.
CLVET_WIDEST void find_extremes(const float* values, size_t count, Counts& found) {
  int32_t least = found.least, greatest = found.greatest, smallest = found.smallest;
  for (size_t i = 0; i < count; ++i) {
    const auto bits = std::bit_cast<int32_t>(values[i]);
    const int32_t size = bits & kMagnitude;
    const int32_t key = ordered(bits);
    const int32_t low = size < kInfinity ? key : kAbove;
    const int32_t high = size < kInfinity ? key : kBelow;
    const int32_t positive = size == 0 ? kInfinity : size;
    least = low < least ? low : least;
    greatest = high > greatest ? high : greatest;
    smallest = positive < smallest ? positive : smallest;
  }
  found.least = least;
  found.greatest = greatest;
  found.smallest = smallest;
}

CLVET_WIDEST void count_all(const float* values, size_t count, const Limits& limits,
                            Counts& found) {
  int32_t odd = 0, nan = 0, over = 0, under = 0, gone = 0, zero = 0;
  const Limits at = limits;
  for (size_t i = 0; i < count; ++i) {
    const int32_t size = std::bit_cast<int32_t>(values[i]) & kMagnitude;
    odd += size >= kInfinity;
    nan += size > kInfinity;
    over += size >= at.overflow;
    under += size < at.normal;
    gone += size <= at.vanish;
    zero += size == 0;
  }
  found = {found.least, found.greatest, found.smallest, odd, nan, over, under, gone, zero};
}

size_t bin_of(float value) {
  const int exponent = static_cast<int>((std::bit_cast<uint32_t>(value) >> 23) & 255) - 127;
  const int bin = exponent - ValueRange::kFirstExponent;
  return static_cast<size_t>(std::clamp(bin, 0, static_cast<int>(ValueRange::kBins) - 1));
}

int32_t bits_of(double limit) { return std::bit_cast<int32_t>(static_cast<float>(limit)); }

ValueRange range_of_part(std::span<const float> values, const Limits& limits) {
  Counts found;
  find_extremes(values.data(), values.size(), found);
  count_all(values.data(), values.size(), limits, found);
  ValueRange range;
  range.count = static_cast<int64_t>(values.size());
  range.nan = found.nan;
  range.infinite = found.odd - found.nan;
  range.zero = found.zero;
  range.overflows = found.over - found.odd;
  range.vanishes = found.gone - found.zero;
  range.subnormal = found.under - found.gone;
  if (range.finite() > 0) {
    // -0 becomes 0.
    range.least = from_ordered(found.least) + 0.0;
    range.greatest = from_ordered(found.greatest) + 0.0;
    range.largest = std::max(std::fabs(range.least), std::fabs(range.greatest));
  }
  if (found.smallest < kInfinity) range.smallest = std::bit_cast<float>(found.smallest);
  return range;
}

void count_sizes(std::span<const float> values, ValueRange& range) {
  const size_t step = std::max<size_t>(1, values.size() / ValueRange::kSampled);
  for (size_t i = 0; i < values.size(); i += step) {
    if (values[i] != 0 && std::isfinite(values[i])) ++range.histogram[bin_of(values[i])];
  }
}

}  // namespace

void ValueRange::add(std::span<const float> values, NumberFormat format) {
  const FormatLimits wanted = limits_of(format);
  const Limits limits = {bits_of(wanted.overflows), bits_of(wanted.normal),
                         bits_of(wanted.vanishes)};
  add(sum_of_parts<ValueRange>(values.size(), [&](size_t first, size_t count) {
    return range_of_part(values.subspan(first, count), limits);
  }));
  count_sizes(values, *this);
}

void ValueRange::add(const ValueRange& other) {
  if (other.finite() > 0) {
    least = finite() > 0 ? std::min(least, other.least) : other.least;
    greatest = finite() > 0 ? std::max(greatest, other.greatest) : other.greatest;
  }
  if (other.smallest > 0)
    smallest = smallest > 0 ? std::min(smallest, other.smallest) : other.smallest;
  largest = std::max(largest, other.largest);
  count += other.count;
  nan += other.nan;
  infinite += other.infinite;
  zero += other.zero;
  overflows += other.overflows;
  subnormal += other.subnormal;
  vanishes += other.vanishes;
  for (size_t i = 0; i < kBins; ++i) histogram[i] += other.histogram[i];
}

bool all_alike(std::span<const float> values) {
  return values.size() > 1 &&
         std::all_of(values.begin(), values.end(), [&](float value) { return value == values[0]; });
}

bool has_large_integers(std::span<const float> values, NumberFormat format) {
  const auto exact = static_cast<float>(std::ldexp(1, limits_of(format).bits));
  bool large = false;
  for (const float value : values) {
    if (std::trunc(value) != value) return false;
    large |= std::fabs(value) > exact;
  }
  return large;
}

}  // namespace clvet
