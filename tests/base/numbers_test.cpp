#include "base/numbers.h"

#include <gtest/gtest.h>

namespace clvet {
namespace {

TEST(Median, IsTheMiddleInOrderAndOfTwoTheUpper) {
  EXPECT_EQ(median({7}), 7);
  EXPECT_EQ(median({9, 1, 5}), 5);
  EXPECT_EQ(median({4, 3, 1, 2}), 3);
}

TEST(Undisturbed, IsTheLeast) {
  EXPECT_EQ(undisturbed({7}), 7);
  EXPECT_EQ(undisturbed({9, 1, 5}), 1);
}

}  // namespace
}  // namespace clvet
