#include "base/half.h"

#include <bit>
#include <cmath>
#include <cstdint>

namespace clvet {

uint16_t double_to_half(double value) {
  const auto bits = std::bit_cast<uint64_t>(value);
  const auto sign = static_cast<uint16_t>((bits >> 48) & 0x8000);
  const double magnitude = std::fabs(value);
  if (std::isnan(value)) return sign | 0x7e00;
  if (magnitude >= 65520.0) return sign | 0x7c00;
  if (magnitude < 0x1p-14) {
    // Subnormals are multiples of 2^-24, as the doubles from 2^28 on are; a round up to 2^-14 gives
    // the smallest normal's bits.
    const auto multiples = std::bit_cast<uint64_t>(magnitude + 0x1p28);
    return sign | static_cast<uint16_t>(multiples - std::bit_cast<uint64_t>(0x1p28));
  }
  const auto exact = std::bit_cast<uint64_t>(magnitude);
  const uint64_t to_even = (uint64_t{1} << 41) - 1 + ((exact >> 42) & 1);
  return sign | static_cast<uint16_t>(((exact + to_even) >> 42) - (uint64_t{1023 - 15} << 10));
}

uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & 0x7fffffff;
  const auto sign = static_cast<uint16_t>((bits >> 16) & 0x8000);
  if (magnitude == 0) return sign;
  // What is no normal half after rounding takes the long way: below 2^-14, from 65520 on, NaN.
  if (magnitude < 0x38800000 || magnitude >= 0x477ff000) return double_to_half(value);
  const uint32_t to_even = 0xfff + ((magnitude >> 13) & 1);
  return sign | static_cast<uint16_t>(((magnitude + to_even) >> 13) - (112 << 10));
}

float half_to_float(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000) << 16;
  const int exponent = (bits >> 10) & 31;
  const uint32_t mantissa = bits & 1023;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return std::bit_cast<float>(sign | (static_cast<uint32_t>(exponent + 112) << 23) |
                              (mantissa << 13));
}

}  // namespace clvet
