#include "probe/trial/tuner.h"

#include <gtest/gtest.h>

#include <vector>

namespace clvet {
namespace {

TEST(Rounds, LeaveOutWhatIsClearlyBehindAndNothingElse) {
  const std::vector<double> fastest{1, 1.1, 1, 0.9, 1};
  EXPECT_TRUE(clearly_behind({1.3, 1.2, 1.4, 1.3, 1.3}, fastest));
  EXPECT_FALSE(clearly_behind({1.3, 1.1, 1.4, 1.3, 1.3}, fastest)) << "one round came near";
  EXPECT_FALSE(clearly_behind({9, 9, 9, 9}, fastest)) << "too few rounds";
  EXPECT_FALSE(clearly_behind(fastest, fastest));
}

TEST(Rounds, AreOpenWhileACandidateSeemsToBeatTheFirst) {
  const std::vector<double> first{1, 1.2, 0.8, 1.1, 0.9};
  EXPECT_TRUE(is_open({first, {0.95, 1.1, 0.8, 1.0, 0.9}})) << "by a twentieth, in the noise";
  EXPECT_FALSE(is_open({first, {0.5, 0.51, 0.5, 0.49, 0.5}})) << "it does beat the first";
  EXPECT_FALSE(is_open({first, first})) << "not by a thirtieth";
  EXPECT_FALSE(is_open({first, {}})) << "it was left out";
  EXPECT_FALSE(is_open({{}, first})) << "the first failed";
}

TEST(Rounds, AreSummedUpByMedianAndQuartiles) {
  RivalTimes times;
  summarise_rounds({}, times);
  EXPECT_EQ(times.rounds, 0);
  summarise_rounds({5, 1, 2, 100, 3}, times);
  EXPECT_EQ(times.rounds, 5);
  EXPECT_EQ(times.median_ms, 3);
  EXPECT_EQ(times.spread_ms, 3);
}

}  // namespace
}  // namespace clvet
