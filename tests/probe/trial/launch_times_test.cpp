#include "probe/trial/launch_times.h"

#include <gtest/gtest.h>

namespace clvet {
namespace {

TEST(LaunchTimes, HaveAMedianAndASpreadThatOneSlowLaunchDoesNotMove) {
  const LaunchTimes times{{5, 1, 2, 3, 900}, {}};
  EXPECT_EQ(times.median(), 3);
  EXPECT_EQ(times.spread(), 3);
}

TEST(LaunchTimes, OfOneLaunchAreSteady) {
  const LaunchTimes times{{7}, {}};
  EXPECT_EQ(times.median(), 7);
  EXPECT_TRUE(times.steady());
}

TEST(LaunchTimes, AreNotSteadyWhereAThirdOfThemWasDisturbed) {
  EXPECT_TRUE((LaunchTimes{{10, 11, 12, 10, 11, 90}, {}}.steady()));
  EXPECT_FALSE((LaunchTimes{{10, 11, 80, 10, 11, 90, 12, 95, 11}, {}}.steady()));
}

}  // namespace
}  // namespace clvet
