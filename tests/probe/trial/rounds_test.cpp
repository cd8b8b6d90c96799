#include "probe/trial/rounds.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <random>
#include <vector>

#include "probe/report/report.h"
#include "probe/report/tuned.h"

namespace clvet {
namespace {

TimesByRound times_of(const std::vector<double>& paces, double ms) {
  TimesByRound times;
  for (const double pace : paces) times[static_cast<int>(times.size())] = ms * pace;
  return times;
}

TunedVariant row(const RoundTimes& times) {
  TunedVariant row;
  row.median_ms = times.median_ms;
  row.spread_ms = times.spread_ms;
  row.rounds = times.rounds;
  return row;
}

bool beats(const RoundTimes& one, const RoundTimes& other) {
  return beats_tuned(row(one), row(other), 0);
}

bool may_beat(const RoundTimes& one, const RoundTimes& other) {
  return may_beat_tuned(row(one), row(other));
}

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

TEST(Rounds, ShowAGainThatIsSmallerThanWhatTheMachineDrifts) {
  const std::vector<double> paces{1, 1.1, 1.3, 2, 1.7, 1.2, 1};
  const auto sums = sum_up({{times_of(paces, 1), times_of(paces, 0.95)}}, 0);
  EXPECT_NEAR(sums[0].median_ms, 1.2, 1e-9);
  EXPECT_NEAR(sums[1].median_ms, 1.2 * 0.95, 1e-9);
  EXPECT_EQ(sums[1].rounds, 7);
  EXPECT_TRUE(beats(sums[1], sums[0]));
}

TEST(Rounds, AreNotMovedByOneWildTime) {
  const std::vector<double> paces{1, 1.1, 0.9, 1, 1.2};
  for (const size_t wild : {0, 1}) {
    SittingTimes times{times_of(paces, 1), times_of(paces, 2)};
    times[wild][2] = 200;
    const auto sums = sum_up({times}, 0);
    EXPECT_NEAR(sums[1].median_ms / sums[0].median_ms, 2, 1e-9) << wild;
    EXPECT_NEAR(sums[1].spread_ms, 0, 1e-9) << wild;
  }
}

TEST(Rounds, CompareWhatWasLeftOutInTheRoundsThatItTookPartIn) {
  // The machine becomes slow when most kernels have been left out.
  std::vector<double> paces(5, 1.0);
  paces.resize(41, 1.6);
  SittingTimes times{times_of(paces, 1), times_of(paces, 1.01)};
  for (int i = 0; i < 6; ++i) times.push_back(times_of(std::vector<double>(5, 1.0), 1.2));
  const auto sums = sum_up({times}, 0);
  EXPECT_NEAR(sums[0].median_ms, 1.6, 1e-9);
  for (size_t i = 2; i < times.size(); ++i) {
    EXPECT_NEAR(sums[i].median_ms, 1.2 * 1.6, 1e-9);
    EXPECT_EQ(sums[i].rounds, 5);
    EXPECT_FALSE(beats(sums[i], sums[0]));
  }
}

TEST(Rounds, HaveTheSpreadOfWhatIsCompared) {
  std::mt19937 random(7);
  std::normal_distribution<double> rest(0, 0.02), drift(0, 0.3);
  SittingTimes times(4);
  for (int round = 0; round < 4001; ++round) {
    const double pace = drift(random);
    for (TimesByRound& kernel : times) kernel[round] = std::exp(pace + rest(random));
  }
  constexpr double kQuartiles = 1.349;  // of a normal distribution, from one to the other
  const auto sums = sum_up({times}, 0);
  EXPECT_EQ(sums[0].spread_ms, 0) << "all are compared with it";
  for (size_t i = 1; i < times.size(); ++i) {
    EXPECT_NEAR(sums[i].spread_ms / sums[i].median_ms, kQuartiles * 0.02 * std::sqrt(2), 0.003);
  }
}

TEST(Rounds, ProveNothingWhereOneMomentOfTheMachineContradictsAnother) {
  const std::vector<double> paces(41, 1.0);
  const auto sitting = [&](double ms) {
    return SittingTimes{times_of(paces, 1), times_of(paces, ms)};
  };
  const auto alike = sum_up({sitting(0.96), sitting(0.965), sitting(0.955)}, 0);
  EXPECT_TRUE(beats(alike[1], alike[0]));
  EXPECT_FALSE(may_beat(alike[1], alike[0])) << "it is plain";
  const auto torn = sum_up({sitting(0.98), sitting(0.92), sitting(1.06)}, 0);
  EXPECT_FALSE(beats(torn[1], torn[0]));
  EXPECT_TRUE(may_beat(torn[1], torn[0]));
  const auto odd = sum_up({sitting(0.96), sitting(0.95), sitting(1.06), sitting(0.955)}, 0);
  EXPECT_TRUE(beats(odd[1], odd[0])) << "one of four was odd";
}

TEST(Rounds, TakeWhatIsLikelyToBeFasterThoughMoreOfThemWouldTell) {
  const auto timed = [](double ms, double spread) { return row({ms, spread, 100}); };
  const TunedVariant planned = timed(1, 0);
  EXPECT_TRUE(beats_tuned(timed(0.98, 0.4), planned, 0)) << "half the error";
  EXPECT_TRUE(may_beat_tuned(timed(0.98, 0.4), planned));
  EXPECT_FALSE(beats_tuned(timed(0.99, 0.4), planned, 0)) << "a quarter of the error";
  EXPECT_FALSE(beats_tuned(timed(0.9, 1.4), planned, 0)) << "the prediction is better than that";
  EXPECT_TRUE(may_beat_tuned(timed(0.99, 0.4), planned));
  EXPECT_FALSE(beats_tuned(timed(0.998, 0), planned, 0)) << "too little to matter";
  EXPECT_FALSE(may_beat_tuned(timed(0.998, 0), planned));
  EXPECT_FALSE(may_beat_tuned(timed(1.05, 0.4), planned));
}

TEST(Rounds, LeaveKernelsOfAProcessorInPeaceWhereALaunchGainsNextToNothing) {
  const TunedVariant planned = row({0.009, 0, 100}), other = row({0.008, 0, 100});
  EXPECT_FALSE(beats_tuned(other, planned, least_gain_ms(true)));
  EXPECT_TRUE(beats_tuned(other, planned, least_gain_ms(false)));
  EXPECT_TRUE(beats_tuned(row({0.08, 0, 100}), row({0.09, 0, 100}), least_gain_ms(true)));
}

TEST(Rounds, LetNothingWinThatWasLeftOutWhileTheReferenceWasDisturbed) {
  std::vector<double> planned(5, 1.5);
  planned.resize(41, 1.0);
  const std::vector<double> even(41, 1.0);
  auto sums = sum_up(
      {{times_of(planned, 1), times_of(even, 0.95), times_of(std::vector<double>(5, 1.0), 1.1)}},
      0);
  EXPECT_LT(sums[2].median_ms, sums[1].median_ms);
  hold_back({false, false, true}, sums);
  EXPECT_NEAR(sums[2].median_ms, 1.15 * sums[1].median_ms, 1e-9);
  EXPECT_NEAR(sums[1].median_ms, 0.95, 1e-9);
  std::vector<RoundTimes> none(2);
  hold_back({true, false}, none);
  EXPECT_EQ(none[0].median_ms, 0);
}

TEST(Rounds, CountWhereTheReferenceTookPart) {
  const auto sums = sum_up({{{{0, 5}, {2, 1}, {3, 1}}, {{1, 7}, {2, 2}, {3, 2}}, {}}}, 0);
  EXPECT_EQ(sums[1].rounds, 2);
  EXPECT_EQ(sums[1].median_ms, 2);
  EXPECT_EQ(sums[2].rounds, 0);
  EXPECT_EQ(sum_up({{{}, {{0, 1}}}}, 0)[1].rounds, 0);
  EXPECT_TRUE(sum_up({}, 0).empty());
}

}  // namespace
}  // namespace clvet
