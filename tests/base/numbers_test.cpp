#include "base/numbers.h"

#include <gtest/gtest.h>

namespace clvet {
namespace {

TEST(Median, IsTheMiddleInOrderAndOfTwoTheUpper) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 3, 1, 2}), 3);
}

TEST(Undisturbed, IsTheLeastOfFewAndPassesOverTheLeastTenthOfMany) {
  EXPECT_EQ(undisturbed({7}), 7);
  EXPECT_EQ(undisturbed({9, 1, 5}), 1);
  EXPECT_EQ(undisturbed({19, 0, 18, 1, 17, 2, 16, 3, 15, 4, 14, 5, 13, 6, 12, 7, 11, 8, 10, 9, 20}),
            2);
}

}  // namespace
}  // namespace clvet
