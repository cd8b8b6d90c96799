#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/half.h"

namespace clvet {
namespace {

TEST(Half, SurvivesTheRoundTripThroughFloatForEveryBitPattern) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = half_to_float(half);
    if ((bits & 0x7fff) > 0x7c00) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(half_to_float(float_to_half(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_half(value), half) << bits;
      ASSERT_EQ(double_to_half(value), half) << bits;
    }
  }
}

#if defined(__x86_64__) || defined(__aarch64__)
TEST(Half, AgreesWithTheCompilersOwnTypeForEveryBitPattern) {
  for (uint32_t bits = 0; bits < 0x7c01; ++bits) {
    const auto value = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    ASSERT_EQ(half_to_float(static_cast<uint16_t>(bits)), value) << bits;
  }
}
#endif

// Between each two neighbours: the middle goes to the even one, what is beside it to the nearer
// one.
TEST(Half, RoundsEveryTieToEvenAndEverythingElseToTheNearest) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const auto low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    const double middle = (double{half_to_float(low)} + double{half_to_float(high)}) / 2;
    const uint16_t even = low % 2 == 0 ? low : high;
    ASSERT_EQ(double_to_half(middle), even) << bits;
    ASSERT_EQ(double_to_half(-middle), even | 0x8000) << bits;
    ASSERT_EQ(double_to_half(std::nextafter(middle, 0.0)), low) << bits;
    ASSERT_EQ(double_to_half(std::nextafter(middle, 1e9)), high) << bits;
  }
}

TEST(Half, FromFloatIsHalfFromDoubleAroundEveryTie) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto low = static_cast<uint16_t>(bits);
    const float step = std::ldexp(1.0f, std::max<int>(bits >> 10, 1) - 25);
    const float middle = half_to_float(low) + step / 2;
    for (const float value : {middle, std::nextafter(middle, 0.f), std::nextafter(middle, 1e9f)}) {
      ASSERT_EQ(float_to_half(value), double_to_half(value)) << value;
      ASSERT_EQ(float_to_half(-value), double_to_half(-value)) << value;
    }
  }
  EXPECT_EQ(float_to_half(-0.0f), 0x8000);
  EXPECT_EQ(float_to_half(std::numeric_limits<float>::infinity()), 0x7c00);
}

TEST(Half, RoundsOnceFromDouble) {
  // Just above a tie: through float it would become the tie, and go down to even.
  const double above = 1 + std::ldexp(1.0, -11) + std::ldexp(1.0, -40);
  EXPECT_EQ(double_to_half(above), 0x3c01);
  EXPECT_EQ(float_to_half(static_cast<float>(above)), 0x3c00);
}

TEST(Half, OverflowsToInfinityFromHalfwayBeyondTheLargest) {
  EXPECT_EQ(double_to_half(65504), 0x7bff);
  EXPECT_EQ(double_to_half(std::nextafter(65520.0, 0.0)), 0x7bff);
  EXPECT_EQ(double_to_half(65520), 0x7c00);
  EXPECT_EQ(double_to_half(-1e300), 0xfc00);
  EXPECT_EQ(double_to_half(std::numeric_limits<double>::infinity()), 0x7c00);
}

TEST(Half, KeepsTheSignOfZeroAndOfWhatUnderflows) {
  EXPECT_EQ(double_to_half(-0.0), 0x8000);
  EXPECT_EQ(double_to_half(-std::ldexp(1.0, -30)), 0x8000);
  EXPECT_EQ(double_to_half(std::ldexp(1.0, -25)), 0);  // a tie with zero
  EXPECT_EQ(double_to_half(std::ldexp(1.5, -25)), 1);
  EXPECT_TRUE(std::signbit(half_to_float(0x8000)));
}

}  // namespace
}  // namespace clvet
