// IEEE binary16 conversions, round to nearest even, with infinities and NaN kept.
#pragma once

#include <cstdint>

namespace clvet {

inline constexpr float kLargestHalf = 65504;  // what is finite

uint16_t float_to_half(float value);
// Rounds once, straight from double: no double rounding through float.
uint16_t double_to_half(double value);
float half_to_float(uint16_t bits);

}  // namespace clvet
