#include "runtime/precision/number_format.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <ios>
#include <vector>

#include "base/half.h"

namespace clvet {
namespace {

float rounded(NumberFormat format, float value) {
  round_to(format, {&value, 1});
  return value;
}

bool same(float a, float b) {
  return std::isnan(a) ? std::isnan(b) : std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

// base/half.h goes another way: through double, or through the bits of a half.
TEST(NumberFormat, RoundsToHalfAsConversionThereAndBackDoes) {
  for (uint64_t bits = 0; bits <= UINT32_MAX; bits += 977) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(bits));
    const float want = half_to_float(float_to_half(value));
    ASSERT_TRUE(same(rounded(NumberFormat::kHalf, value), want)) << value << " " << want;
  }
}

TEST(NumberFormat, RoundsEveryTieOfHalfToEven) {
  for (uint32_t half = 0; half < 0x7bff; ++half) {
    const double low = half_to_float(static_cast<uint16_t>(half));
    const double high = half_to_float(static_cast<uint16_t>(half + 1));
    const auto tie = static_cast<float>((low + high) / 2);
    const double even = half % 2 == 0 ? low : high;
    ASSERT_EQ(rounded(NumberFormat::kHalf, tie), static_cast<float>(even)) << half;
    ASSERT_EQ(rounded(NumberFormat::kHalf, -tie), static_cast<float>(-even)) << half;
  }
}

// A hundred thousand values are rounded by many at once and in parts, their ends one by one.
TEST(NumberFormat, RoundsManyValuesAsEachAlone) {
  for (const size_t count : {15u, 16u, 33u, 16384u, 16385u, 100003u}) {
    std::vector<float> values;
    for (size_t i = 0; i < count; ++i)
      values.push_back(std::bit_cast<float>(static_cast<uint32_t>(i * 2654435761u)));
    for (const NumberFormat format : {NumberFormat::kHalf, NumberFormat::kBfloat}) {
      std::vector<float> inside = values, beside(count);
      round_to(format, inside);
      round_to(format, values, beside);
      for (size_t i = 0; i < count; ++i) {
        const float want = rounded(format, values[i]);
        ASSERT_TRUE(same(inside[i], want)) << i << " of " << count;
        ASSERT_TRUE(same(beside[i], want)) << i << " of " << count;
      }
    }
  }
}

TEST(NumberFormat, RoundsToBfloatByKeepingTheUpperHalfOfTheBits) {
  const struct {
    uint32_t from, to;
  } rows[] = {
      {0x3f800000, 0x3f800000}, {0x3f808000, 0x3f800000}, {0x3f818000, 0x3f820000},
      {0x3f808001, 0x3f810000}, {0x7f7fffff, 0x7f800000}, {0x7f7f7fff, 0x7f7f0000},
      {0x80000001, 0x80000000}, {0xff800000, 0xff800000}, {0x00018000, 0x00020000},
  };
  for (const auto& row : rows) {
    const float got = rounded(NumberFormat::kBfloat, std::bit_cast<float>(row.from));
    EXPECT_EQ(std::bit_cast<uint32_t>(got), row.to) << std::hex << row.from;
  }
  EXPECT_TRUE(std::isnan(rounded(NumberFormat::kBfloat, NAN)));
}

TEST(NumberFormat, HasTheLimitsThatItsRoundingShows) {
  for (const NumberFormat format : {NumberFormat::kHalf, NumberFormat::kBfloat}) {
    const FormatLimits limits = limits_of(format);
    const auto greatest = static_cast<float>(limits.greatest);
    const auto overflows = static_cast<float>(limits.overflows);
    EXPECT_EQ(rounded(format, greatest), greatest);
    EXPECT_TRUE(std::isinf(rounded(format, overflows)));
    EXPECT_EQ(rounded(format, std::nextafter(overflows, 0.f)), greatest);
    const auto vanishes = static_cast<float>(limits.vanishes);
    EXPECT_EQ(rounded(format, vanishes), 0);
    EXPECT_GT(rounded(format, std::nextafter(vanishes, 1.f)), 0);
    const auto exact = static_cast<float>(std::ldexp(1, limits.bits));
    EXPECT_EQ(rounded(format, exact - 1), exact - 1);
    EXPECT_NE(rounded(format, exact + 1), exact + 1);
  }
}

}  // namespace
}  // namespace clvet
