#include "kernels/launch_batch.h"

#include <gtest/gtest.h>

namespace clvet {
namespace {

TEST(LaunchesInBatch, AreTwoMillisecondsWorthAndNoneWhereOneTakesHalfOfThat) {
  EXPECT_EQ(launches_in_batch(1.5), 0);
  EXPECT_EQ(launches_in_batch(1), 2);
  EXPECT_EQ(launches_in_batch(0.25), 8);
  EXPECT_EQ(launches_in_batch(1e-3), 32);
  EXPECT_EQ(launches_in_batch(0), 32) << "a clock that stands still";
}

}  // namespace
}  // namespace clvet
