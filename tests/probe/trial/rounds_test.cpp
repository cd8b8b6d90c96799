#include "probe/trial/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "probe/report/report.h"
#include "probe/report/tuned.h"

namespace clvet {
namespace {

TEST(Rounds, LeaveOutWhatIsClearlyBehindAndNothingElse) {
  const std::vector<double> fastest{1, 1.1, 1, 0.9, 1};
  EXPECT_TRUE(clearly_behind({1.3, 1.2, 1.4, 1.3, 1.3}, fastest));
  EXPECT_FALSE(clearly_behind({1.3, 1.1, 1.4, 1.3, 1.3}, fastest)) << "one round came near";
  EXPECT_FALSE(clearly_behind({9, 9, 9, 9}, fastest)) << "too few rounds";
  EXPECT_FALSE(clearly_behind(fastest, fastest));
}

TEST(Rounds, LeaveOutAfterTwoWhatIsManyTimesAsSlow) {
  EXPECT_TRUE(far_behind({9, 8.5}, {1, 1.02}));
  EXPECT_FALSE(far_behind({9, 7}, {1, 1.02})) << "one round came nearer";
  EXPECT_FALSE(far_behind({9}, {1})) << "once may be the machine";
  EXPECT_FALSE(far_behind({}, {}));
}

TEST(Rounds, AreOpenWhileACandidateSeemsToBeatTheFirst) {
  const std::vector<double> first{1, 1.2, 0.8, 1.1, 0.9};
  EXPECT_TRUE(is_open({first, {0.95, 1.1, 0.8, 1.0, 0.9}})) << "by a twentieth, in the noise";
  EXPECT_FALSE(is_open({first, {0.5, 0.51, 0.5, 0.49, 0.5}})) << "it does beat the first";
  EXPECT_FALSE(is_open({first, first})) << "not by a fiftieth";
  EXPECT_FALSE(is_open({first, {}})) << "it was left out";
  EXPECT_FALSE(is_open({{}, first})) << "the first failed";
}

TEST(Rounds, AreSummedUpByMedianAndQuartiles) {
  EXPECT_EQ(summarise_rounds({}).rounds, 0);
  const RoundTimes times = summarise_rounds({5, 1, 2, 100, 3});
  EXPECT_EQ(times.rounds, 5);
  EXPECT_EQ(times.median_ms, 3);
  EXPECT_EQ(times.spread_ms, 3);
}

TimesByRound times_of(const std::vector<double>& paces, double ms) {
  TimesByRound times;
  for (const double pace : paces) times[static_cast<int>(times.size())] = ms * pace;
  return times;
}

TunedVariant row_of(const std::vector<double>& ms) {
  const RoundTimes times = summarise_rounds(ms);
  TunedVariant row;
  row.median_ms = times.median_ms;
  row.spread_ms = times.spread_ms;
  row.rounds = times.rounds;
  return row;
}

TEST(OnePace, ShowsAGainThatIsSmallerThanWhatTheMachineDrifts) {
  const std::vector<double> paces{1, 1.1, 1.3, 2, 1.7, 1.2, 1};
  const TimesByRound first = times_of(paces, 1), second = times_of(paces, 0.95);
  const auto ms = at_one_pace({first, second});
  for (const double one : ms[0]) EXPECT_NEAR(one, 1.2, 1e-9) << "at the machine's usual pace";
  for (const double one : ms[1]) EXPECT_NEAR(one, 1.2 * 0.95, 1e-9);
  EXPECT_EQ(beats_tuned(row_of(ms[1]), row_of(ms[0])), Beats::kYes);
  std::vector<double> raw[2];
  for (const auto& [round, time] : first) raw[0].push_back(time);
  for (const auto& [round, time] : second) raw[1].push_back(time);
  EXPECT_EQ(beats_tuned(row_of(raw[1]), row_of(raw[0])), Beats::kPerhaps) << "the drift hides it";
}

TEST(OnePace, IsNotMovedByOneWildTime) {
  TimesByRound first = times_of({1, 1, 1, 1, 1}, 1), second = times_of({1, 1, 1, 1, 1}, 2);
  second[3] = 200;
  const auto ms = at_one_pace({first, second});
  EXPECT_NEAR(summarise_rounds(ms[0]).median_ms, 1, 1e-9);
  EXPECT_NEAR(summarise_rounds(ms[1]).median_ms, 2, 1e-9);
}

TEST(OnePace, ComparesAKernelThatWasLeftOutInTheRoundsThatItTookPartIn) {
  // The machine is slow while all three run, and fast after the third was left out.
  const TimesByRound first = times_of({2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1}, 1);
  const TimesByRound second = times_of({2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1}, 1.1);
  const auto ms = at_one_pace({first, second, times_of({2, 2, 2, 2, 2}, 1.5)});
  ASSERT_EQ(ms[2].size(), 5u);
  EXPECT_NEAR(summarise_rounds(ms[2]).median_ms, 1.5, 1e-9);
}

TEST(OnePace, KeepsTheNoiseOfTwoKernelsAsLargeAsItIs) {
  std::mt19937 random(7);
  std::normal_distribution<double> rest(0, 0.02), drift(0, 0.3);
  TimesByRound kernels[2];
  for (int round = 0; round < 2001; ++round) {
    const double pace = drift(random);
    for (TimesByRound& kernel : kernels) kernel[round] = std::exp(pace + rest(random));
  }
  constexpr double kQuartiles = 1.349;  // of a normal distribution, from one to the other
  for (const auto& ms : at_one_pace({kernels[0], kernels[1]})) {
    EXPECT_NEAR(summarise_rounds(ms).spread_ms / kQuartiles, 0.02, 0.002);
  }
}

TEST(OnePace, IsKnownOfRoundsWithTwoKernelsAtLeast) {
  const auto ms = at_one_pace({{{0, 5}, {2, 1}, {3, 1}}, {{1, 7}, {2, 2}, {3, 2}}, {}});
  EXPECT_EQ(ms[0].size(), 2u);
  EXPECT_EQ(ms[1].size(), 2u);
  EXPECT_TRUE(ms[2].empty());
  EXPECT_TRUE(at_one_pace({{{0, 5}}})[0].empty());
  EXPECT_TRUE(at_one_pace({}).empty());
}

}  // namespace
}  // namespace clvet
