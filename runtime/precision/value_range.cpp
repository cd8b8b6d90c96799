#include "runtime/precision/value_range.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

// Extremes of floats are those of their bits: positive ones in order, negative ones behind.
struct Extremes {
  float least = INFINITY, greatest = -INFINITY, smallest = INFINITY;
  int64_t odd = 0;  // infinite or NaN
};

Extremes extremes_of(std::span<const float> values) {
  Extremes found;
  float least = found.least, greatest = found.greatest, smallest = found.smallest;
  int32_t odd = 0;
  for (const float value : values) {
    const float size = std::fabs(value);
    const bool finite = size < INFINITY;
    odd += finite ? 0 : 1;
    least = finite && value < least ? value : least;
    greatest = finite && value > greatest ? value : greatest;
    smallest = size > 0 && size < smallest ? size : smallest;
  }
  return {least, greatest, smallest, odd};
}

size_t bin_of(float value) {
  const int exponent = static_cast<int>((std::bit_cast<uint32_t>(value) >> 23) & 255) - 127;
  const int bin = exponent - ValueRange::kFirstExponent;
  return static_cast<size_t>(std::clamp(bin, 0, static_cast<int>(ValueRange::kBins) - 1));
}

// As counted in int32_t, which vector code likes: no more values than that at once.
constexpr size_t kAtOnce = size_t{1} << 30;

}  // namespace

void ValueRange::add(std::span<const float> values, NumberFormat format) {
  for (; values.size() > kAtOnce; values = values.subspan(kAtOnce))
    add(values.first(kAtOnce), format);
  if (values.empty()) return;
  const Extremes found = extremes_of(values);
  const bool first = finite() == 0;
  count += static_cast<int64_t>(values.size());
  if (found.odd > 0) {
    const auto nans =
        std::count_if(values.begin(), values.end(), [](float v) { return std::isnan(v); });
    nan += nans;
    infinite += found.odd - nans;
  }
  if (found.least <= found.greatest) {
    least = first ? found.least : std::min<double>(least, found.least);
    greatest = first ? found.greatest : std::max<double>(greatest, found.greatest);
  }
  if (found.smallest < INFINITY)
    smallest = smallest == 0 ? found.smallest : std::min<double>(smallest, found.smallest);
  largest = std::max(std::fabs(least), std::fabs(greatest));
  const FormatLimits limits = limits_of(format);
  const auto overflow = static_cast<float>(limits.overflows),
             normal = static_cast<float>(limits.normal),
             vanish = static_cast<float>(limits.vanishes);
  int32_t over = 0, under = 0, gone = 0, zeros = 0;
  for (const float value : values) {
    const float size = std::fabs(value);
    over += size >= overflow && size < INFINITY;
    under += size < normal;
    gone += size <= vanish;
    zeros += size == 0;
  }
  zero += zeros;
  overflows += over;
  vanishes += gone - zeros;
  subnormal += under - gone;
  const size_t step = std::max<size_t>(1, values.size() / kSampled);
  for (size_t i = 0; i < values.size(); i += step) {
    if (values[i] != 0 && std::isfinite(values[i])) ++histogram[bin_of(values[i])];
  }
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
