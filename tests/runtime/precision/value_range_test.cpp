#include "runtime/precision/value_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

ValueRange range_of(const std::vector<float>& values) {
  ValueRange range;
  range.add(values, NumberFormat::kHalf);
  return range;
}

TEST(ValueRange, CountsWhatHalfCannotHold) {
  const ValueRange range = range_of(
      {1, -2, 0, -0.f, 65504, 65519, 65520, -1e6, 7e-5f, 6e-5f, 2.9e-8f, kInf, -kInf, NAN});
  EXPECT_EQ(range.count, 14);
  EXPECT_EQ(range.nan, 1);
  EXPECT_EQ(range.infinite, 2);
  EXPECT_EQ(range.zero, 2);
  EXPECT_EQ(range.overflows, 2);
  EXPECT_EQ(range.subnormal, 1);
  EXPECT_EQ(range.vanishes, 1);
  EXPECT_EQ(range.least, -1e6);
  EXPECT_EQ(range.greatest, 65520);
  EXPECT_EQ(range.largest, 1e6);
  EXPECT_FLOAT_EQ(static_cast<float>(range.smallest), 2.9e-8f);
  EXPECT_FALSE(range.constant());
}

TEST(ValueRange, IsTheSameInPartsAndAsAWhole) {
  const std::vector<float> values = {3, -7, 1e-9f, 0, 1e5f, NAN, 0.5f};
  const ValueRange whole = range_of(values);
  for (size_t cut = 0; cut <= values.size(); ++cut) {
    const std::vector<float> head(values.begin(),
                                  values.begin() + static_cast<std::ptrdiff_t>(cut));
    const std::vector<float> tail(values.begin() + static_cast<std::ptrdiff_t>(cut), values.end());
    ValueRange merged = range_of(head);
    merged.add(range_of(tail));
    ValueRange added = range_of(head);
    added.add(tail, NumberFormat::kHalf);
    for (const ValueRange& parts : {merged, added}) {
      EXPECT_EQ(parts.count, whole.count);
      EXPECT_EQ(parts.nan, whole.nan);
      EXPECT_EQ(parts.least, whole.least) << cut;
      EXPECT_EQ(parts.greatest, whole.greatest) << cut;
      EXPECT_EQ(parts.smallest, whole.smallest) << cut;
      EXPECT_EQ(parts.largest, whole.largest) << cut;
      EXPECT_EQ(parts.overflows, whole.overflows);
      EXPECT_EQ(parts.vanishes, whole.vanishes);
      EXPECT_EQ(parts.histogram, whole.histogram);
    }
  }
}

TEST(ValueRange, OfManyValuesIsThatOfEachTogether) {
  const std::vector<float> odd = {NAN, kInf, -kInf, 0, -0.f, 1e-9f, 3e-5f, -7e4f, 1e30f, -2};
  for (const size_t count : {31u, 16384u, 16385u, 49999u}) {
    std::vector<float> values;
    ValueRange wanted;
    for (size_t i = 0; i < count; ++i) {
      values.push_back(odd[i * 2654435761u % 97 % odd.size()] * static_cast<float>(1 + i % 13));
      wanted.add(range_of({values.back()}));
    }
    const ValueRange found = range_of(values);
    EXPECT_EQ(found.count, wanted.count);
    EXPECT_EQ(found.nan, wanted.nan) << count;
    EXPECT_EQ(found.infinite, wanted.infinite) << count;
    EXPECT_EQ(found.zero, wanted.zero) << count;
    EXPECT_EQ(found.least, wanted.least) << count;
    EXPECT_EQ(found.greatest, wanted.greatest) << count;
    EXPECT_EQ(found.smallest, wanted.smallest) << count;
    EXPECT_EQ(found.largest, wanted.largest) << count;
    EXPECT_EQ(found.overflows, wanted.overflows) << count;
    EXPECT_EQ(found.subnormal, wanted.subnormal) << count;
    EXPECT_EQ(found.vanishes, wanted.vanishes) << count;
  }
}

TEST(ValueRange, HasNoNegativeZeroAtItsEnds) {
  const ValueRange range = range_of({-0.f, -0.f});
  EXPECT_FALSE(std::signbit(range.least));
  EXPECT_FALSE(std::signbit(range.greatest));
}

TEST(ValueRange, HasNoExtremesWhereNothingIsFinite) {
  const ValueRange range = range_of({NAN, kInf});
  EXPECT_EQ(range.finite(), 0);
  EXPECT_EQ(range.least, 0);
  EXPECT_EQ(range.largest, 0);
  EXPECT_FALSE(range.constant());
  EXPECT_EQ(range_of({}).count, 0);
}

TEST(ValueRange, TellsATensorOfOneValueFromASingleValue) {
  EXPECT_TRUE(range_of({2, 2, 2}).constant());
  EXPECT_FALSE(range_of({2}).constant());
  EXPECT_FALSE(range_of({2, 2, NAN}).constant());
}

TEST(ValueRange, CountsByPowersOfTwo) {
  const ValueRange range = range_of({1, 1.5f, -2, 0, 3.9f, 1e-30f, 1e30f});
  const auto at = [&](int exponent) {
    return range.histogram[static_cast<size_t>(exponent - ValueRange::kFirstExponent)];
  };
  EXPECT_EQ(at(0), 2);
  EXPECT_EQ(at(1), 2);
  EXPECT_EQ(range.histogram.front(), 1);
  EXPECT_EQ(range.histogram.back(), 1);
}

TEST(ValueRange, CountsAPartOfMany) {
  const ValueRange range = range_of(std::vector<float>(1000000, 1.f));
  const auto counted = range.histogram[static_cast<size_t>(-ValueRange::kFirstExponent)];
  EXPECT_GE(counted, static_cast<int64_t>(ValueRange::kSampled));
  EXPECT_LE(counted, 2 * static_cast<int64_t>(ValueRange::kSampled));
}

TEST(LargeIntegers, AreWholeNumbersOfWhichSomeExceedTheFormat) {
  const auto large = [](const std::vector<float>& values, NumberFormat format) {
    return has_large_integers(values, format);
  };
  EXPECT_TRUE(large({0, 1, 2049}, NumberFormat::kHalf));
  EXPECT_TRUE(large({0, -3000}, NumberFormat::kHalf));
  EXPECT_FALSE(large({0, 1, 2048}, NumberFormat::kHalf));
  EXPECT_FALSE(large({0.5f, 3000}, NumberFormat::kHalf));
  EXPECT_TRUE(large({257}, NumberFormat::kBfloat));
  EXPECT_FALSE(large({}, NumberFormat::kHalf));
}

}  // namespace
}  // namespace clvet
