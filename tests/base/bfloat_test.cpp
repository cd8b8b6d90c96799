#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/bfloat.h"

namespace clvet {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

TEST(Bfloat, SurvivesTheRoundTripThroughFloatForEveryBitPattern) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto bfloat = static_cast<uint16_t>(bits);
    const float value = bfloat_to_float(bfloat);
    if ((bits & 0x7fff) > 0x7f80) {
      EXPECT_TRUE(std::isnan(value)) << bits;
      EXPECT_TRUE(std::isnan(bfloat_to_float(float_to_bfloat(value)))) << bits;
      EXPECT_TRUE(std::isnan(bfloat_to_float(double_to_bfloat(value)))) << bits;
    } else {
      ASSERT_EQ(float_to_bfloat(value), bfloat) << bits;
      ASSERT_EQ(double_to_bfloat(value), bfloat) << bits;
    }
  }
}

// Between each two neighbours: the middle goes to the even one, what is beside it to the nearer
// one. The middle is a float; beside it are doubles that a float would make the middle of.
TEST(Bfloat, RoundsEveryTieToEvenAndEverythingElseToTheNearest) {
  for (uint32_t bits = 0; bits < 0x7f7f; ++bits) {
    const auto low = static_cast<uint16_t>(bits), high = static_cast<uint16_t>(bits + 1);
    const double middle = (double{bfloat_to_float(low)} + double{bfloat_to_float(high)}) / 2;
    const auto single = static_cast<float>(middle);
    const uint16_t even = low % 2 == 0 ? low : high;
    ASSERT_EQ(float_to_bfloat(single), even) << bits;
    ASSERT_EQ(float_to_bfloat(-single), even | 0x8000) << bits;
    ASSERT_EQ(float_to_bfloat(std::nextafter(single, 0.f)), low) << bits;
    ASSERT_EQ(float_to_bfloat(std::nextafter(single, std::numeric_limits<float>::infinity())), high)
        << bits;
    ASSERT_EQ(double_to_bfloat(middle), even) << bits;
    ASSERT_EQ(double_to_bfloat(-middle), even | 0x8000) << bits;
    ASSERT_EQ(double_to_bfloat(std::nextafter(middle, 0.0)), low) << bits;
    ASSERT_EQ(double_to_bfloat(std::nextafter(middle, 1e39)), high) << bits;
    ASSERT_EQ(double_to_bfloat(std::nextafter(-middle, -1e39)), high | 0x8000) << bits;
  }
}

// The largest is 0x7f7f, (2 - 2^-7) * 2^127; from half a step above it on, all is infinity.
TEST(Bfloat, IsInfinityBeyondItsRange) {
  const double largest = std::ldexp(2 - 0x1p-7, 127), limit = std::ldexp(2 - 0x1p-8, 127);
  EXPECT_EQ(double_to_bfloat(largest), 0x7f7f);
  EXPECT_EQ(double_to_bfloat(std::nextafter(limit, 0)), 0x7f7f);
  EXPECT_EQ(double_to_bfloat(limit), 0x7f80);
  EXPECT_EQ(double_to_bfloat(-1e300), 0xff80);
  EXPECT_EQ(double_to_bfloat(kInf), 0x7f80);
  EXPECT_EQ(float_to_bfloat(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(float_to_bfloat(-std::numeric_limits<float>::infinity()), 0xff80);
}

TEST(Bfloat, IsZeroOfTheSameSignBelowHalfOfItsLeast) {
  EXPECT_EQ(double_to_bfloat(0x1p-133), 0x0001);
  EXPECT_EQ(double_to_bfloat(0x1p-134), 0x0000);
  EXPECT_EQ(double_to_bfloat(std::nextafter(0x1p-134, 1)), 0x0001);
  EXPECT_EQ(double_to_bfloat(-1e-300), 0x8000);
  EXPECT_EQ(float_to_bfloat(-0.f), 0x8000);
}

TEST(Bfloat, OfANanIsANanWhereverItsBitsLie) {
  EXPECT_EQ(float_to_bfloat(std::bit_cast<float>(0x7f800001u)), 0x7fc0);
  EXPECT_EQ(float_to_bfloat(std::bit_cast<float>(0xffffffffu)), 0xffff);
  EXPECT_TRUE(std::isnan(bfloat_to_float(double_to_bfloat(std::nan("")))));
}

}  // namespace
}  // namespace clvet
