// What the values of a tensor are: their range, what is odd among them, how they are spread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "runtime/precision/number_format.h"

namespace clvet {

// Of any number of tensors taken together.
struct ValueRange {
  static constexpr int kFirstExponent = -40;  // 2^-40 and all below
  static constexpr size_t kBins = 81;         // up to 2^40 and all above

  int64_t count = 0, nan = 0, infinite = 0, zero = 0;
  double least = 0, greatest = 0;  // of the finite values; 0 where there are none
  double smallest = 0,
         largest = 0;     // of the finite |values| that are not 0; 0 where there are none
  int64_t overflows = 0;  // finite values that become infinite in the format
  int64_t subnormal = 0;  // that lose bits, being small
  int64_t vanishes = 0;   // that become 0
  // Of |values| that are finite and not 0, by power of two. Of a large tensor a part is counted,
  // kSampled values at least, evenly spread.
  std::array<int64_t, kBins> histogram = {};
  static constexpr size_t kSampled = size_t{1} << 14;

  void add(std::span<const float> values, NumberFormat format);
  void add(const ValueRange& other);
  int64_t finite() const { return count - nan - infinite; }
  // All values are the same, and there are several.
  bool constant() const { return count > 1 && finite() == count && least == greatest; }
};

// Whether there are several values, and all are the same.
bool all_alike(std::span<const float> values);

// Whether all are whole numbers, some of them so large that the format cannot hold each: positions,
// counts, row numbers.
bool has_large_integers(std::span<const float> values, NumberFormat format);

}  // namespace clvet
