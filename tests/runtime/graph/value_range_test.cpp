#include "runtime/graph/value_range.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <vector>

namespace clvet {
namespace {

TEST(ValueRange, FindsTheLeastAndTheGreatestWhereverTheyAre) {
  for (size_t size = 1; size < 70; ++size) {
    for (size_t at = 0; at < size; ++at) {
      std::vector<float> values(size, 1);
      values[at] = -7;
      values[size - 1 - at] = 9;
      const ValueRange range = range_of(values);
      EXPECT_EQ(range.least, at == size - 1 - at ? (size == 1 ? 9 : 1) : -7);
      EXPECT_EQ(range.greatest, 9);
      EXPECT_FALSE(range.has_nan);
    }
  }
}

TEST(ValueRange, SaysWhereTheFirstOfTheGreatestIs) {
  const float odd = std::nanf("");
  for (const size_t size : {1, 33, 2048, 2049, 5000}) {
    for (const float other : {-INFINITY, -3.0f, odd}) {
      for (size_t at = 0; at < size; at += 13) {
        std::vector<float> values(size, other);
        values[at] = values[size - 1] = 4;
        EXPECT_EQ(range_of(values).place, at);
      }
      EXPECT_EQ(range_of(std::vector<float>(size, other)).place, 0);
    }
  }
}

TEST(ValueRange, KeepsInfinitiesAndSaysThatSomethingIsNoNumber) {
  for (size_t at = 0; at < 40; ++at) {
    std::vector<float> values(40, 2);
    values[at] = std::nanf("");
    const ValueRange odd = range_of(values);
    EXPECT_TRUE(odd.has_nan);
    EXPECT_EQ(odd.least, 2);
    EXPECT_EQ(odd.greatest, 2);
    values[at] = -INFINITY;
    EXPECT_EQ(range_of(values).least, -INFINITY);
    EXPECT_FALSE(range_of(values).has_nan);
    values[at] = INFINITY;
    EXPECT_EQ(range_of(values).greatest, INFINITY);
  }
}

}  // namespace
}  // namespace clvet
