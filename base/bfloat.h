// Conversions of bfloat16, the upper half of a float: round to nearest even, with infinities and
// NaN kept.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace clvet {

inline float bfloat_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

inline uint16_t float_to_bfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  if (std::isnan(value)) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

// Rounds once, straight from double: no double rounding through float.
inline uint16_t double_to_bfloat(double value) {
  const auto nearest = static_cast<float>(value);
  if (std::isnan(value) || static_cast<double>(nearest) == value) return float_to_bfloat(nearest);
  // A float beside the value: the one whose last bit is 1, so that no tie is seen where none is.
  auto bits = std::bit_cast<uint32_t>(nearest);
  const bool beyond = std::fabs(static_cast<double>(nearest)) > std::fabs(value);
  if ((bits & 1) == 0) bits = beyond ? bits - 1 : bits + 1;
  return float_to_bfloat(std::bit_cast<float>(bits));
}

}  // namespace clvet
