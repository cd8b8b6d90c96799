#include "runtime/precision/number_format.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/half.h"
#include "base/widest.h"
#include "runtime/precision/parts.h"

namespace clvet {
namespace {

constexpr uint32_t kSign = 0x80000000;
constexpr uint32_t kInfinity = 0x7f800000;

// Drops the low bits of a significand; what carries over makes the exponent larger, as it should.
template <int kDropped>
uint32_t nearest_even(uint32_t magnitude) {
  const uint32_t odd = (magnitude >> kDropped) & 1;
  return (magnitude + ((1u << (kDropped - 1)) - 1) + odd) & ~((1u << kDropped) - 1);
}

// Written without branches, so that compilers turn the loop below into vector code.
float as_half(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSign;
  const uint32_t normal = nearest_even<13>(magnitude);
  // The distance of floats in [0.5, 1) is 2^-24, that of half's subnormals.
  const auto subnormal = std::bit_cast<uint32_t>((std::bit_cast<float>(magnitude) + 0.5f) - 0.5f);
  uint32_t rounded = magnitude < 0x38800000 ? subnormal : normal;
  rounded = normal > 0x477fe000 ? kInfinity : rounded;
  rounded = magnitude > kInfinity ? magnitude : rounded;
  return std::bit_cast<float>(rounded | (bits & kSign));
}

float as_bfloat(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t magnitude = bits & ~kSign;
  const uint32_t rounded = magnitude > kInfinity ? magnitude : nearest_even<16>(magnitude);
  return std::bit_cast<float>(rounded | (bits & kSign));
}

CLVET_WIDEST void all_as_half(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = as_half(values[i]);
}

CLVET_WIDEST void all_as_bfloat(float* values, size_t count) {
  for (size_t i = 0; i < count; ++i) values[i] = as_bfloat(values[i]);
}

void round_part(NumberFormat format, std::span<float> values) {
  if (format == NumberFormat::kHalf) all_as_half(values.data(), values.size());
  if (format == NumberFormat::kBfloat) all_as_bfloat(values.data(), values.size());
}

}  // namespace

const char* to_string(NumberFormat format) {
  switch (format) {
    case NumberFormat::kFloat:
      return "float32";
    case NumberFormat::kHalf:
      return "half";
    case NumberFormat::kBfloat:
      break;
  }
  return "bfloat16";
}

FormatLimits limits_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::kHalf:
      return {11, kLargestHalf, 65520, std::ldexp(1, -14), std::ldexp(1, -25)};
    case NumberFormat::kBfloat:
      return {8, std::ldexp(255, 120), std::ldexp(511, 119), std::ldexp(1, -126),
              std::ldexp(1, -134)};
    case NumberFormat::kFloat:
      break;
  }
  return {24, std::ldexp(0xffffff, 104), std::ldexp(0x1ffffff, 103), std::ldexp(1, -126),
          std::ldexp(1, -150)};
}

void round_to(NumberFormat format, std::span<float> values) {
  each_part(values.size(),
            [&](size_t first, size_t count) { round_part(format, values.subspan(first, count)); });
}

void round_to(NumberFormat format, std::span<const float> from, std::span<float> to) {
  each_part(std::min(from.size(), to.size()), [&](size_t first, size_t count) {
    const auto part = to.subspan(first, count);
    std::ranges::copy(from.subspan(first, count), part.begin());
    round_part(format, part);
  });
}

void round_small(NumberFormat format, std::span<float> values) {
  const auto normal = static_cast<float>(limits_of(format).normal);
  for (float& value : values)
    if (std::fabs(value) < normal) round_part(format, {&value, 1});
}

}  // namespace clvet
