// The formats that a value may be stored in, and rounding to them.
#pragma once

#include <span>

namespace clvet {

enum class NumberFormat { kFloat, kHalf, kBfloat };
const char* to_string(NumberFormat format);  // "float32", "half", "bfloat16"

struct FormatLimits {
  int bits;          // of the significand, the hidden one included
  double greatest;   // the largest finite value
  double overflows;  // from here on a value becomes infinite
  double normal;     // the smallest value with all bits
  double vanishes;   // up to here a value becomes 0
};
FormatLimits limits_of(NumberFormat format);

// Each value as it is after being stored: to nearest, ties to even, subnormals kept.
void round_to(NumberFormat format, std::span<float> values);
// The same into other memory, for as many values.
void round_to(NumberFormat format, std::span<const float> from, std::span<float> to);
// Of them only those that are too small for all their bits.
void round_small(NumberFormat format, std::span<float> values);

}  // namespace clvet
