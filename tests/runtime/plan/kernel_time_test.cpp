#include "runtime/plan/kernel_time.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "probe/report/report.h"
#include "runtime/plan/cost.h"

namespace clvet {
namespace {

// A device that does much at once; an empty launch takes 0.1 ms.
CostModel gpu() {
  PeaksReport peaks;
  peaks.launch_us = 100;
  return {peaks, false, 0};
}

// Of `outputs` elements, each the sum of `terms` products; read and written once.
CallWork work_on(double outputs, double terms) {
  return {2 * outputs * terms, 4 * outputs * terms, outputs};
}

// Timed launches of a kernel that takes `ms` of its own for its work, and the launch (0.1 ms).
std::vector<TimedLaunch> timed_by(const std::function<double(double, double)>& ms) {
  std::vector<TimedLaunch> timed;
  for (const auto& [outputs, terms] :
       {std::pair(1e3, 10.0), std::pair(1e5, 10.0), std::pair(1e4, 100.0), std::pair(2e5, 300.0)}) {
    timed.push_back({work_on(outputs, terms), 0.1 + ms(outputs, terms)});
  }
  return timed;
}

TEST(PowerLaw, FollowsADeviceThatDoesAllWorkInTurn) {
  const auto law = [](double outputs, double terms) { return 1e-6 * outputs * terms; };
  const CostModel cost = gpu();
  for (const auto& [outputs, terms] :
       {std::pair(2e4, 50.0), std::pair(1e5, 100.0), std::pair(5e5, 300.0), std::pair(1e6, 10.0)}) {
    EXPECT_NEAR(cost.kernel_ms(timed_by(law), work_on(outputs, terms)) / law(outputs, terms), 1,
                0.15)
        << outputs << " x " << terms;
  }
}

// There the terms of one element are what takes time, however many elements there are.
TEST(PowerLaw, FollowsADeviceThatHasRoomForAllElementsAtOnce) {
  const auto law = [](double, double terms) { return 1e-3 * terms; };
  const CostModel cost = gpu();
  for (const auto& [outputs, terms] :
       {std::pair(2e4, 50.0), std::pair(1e5, 100.0), std::pair(1e3, 300.0), std::pair(2e5, 30.0)}) {
    EXPECT_NEAR(cost.kernel_ms(timed_by(law), work_on(outputs, terms)) / law(outputs, terms), 1,
                0.3)
        << outputs << " x " << terms;
  }
}

TEST(PowerLaw, GivesTheTimedLaunchItsOwnTimeWhereOneAloneWasTimed) {
  const CostModel cost = gpu();
  for (const double ms : {0.15, 3.1, 500.0}) {
    const std::vector<TimedLaunch> timed = {{work_on(1e4, 20), ms}};
    const double own = ms - 0.1;
    EXPECT_NEAR(cost.kernel_ms(timed, work_on(1e4, 20)) / own, 1, 0.1) << ms;
    EXPECT_GT(cost.kernel_ms(timed, work_on(4e4, 20)), own * 1.2);
    EXPECT_LE(cost.kernel_ms(timed, work_on(4e4, 20)), own * 4 * 1.001);
    EXPECT_LT(cost.kernel_ms(timed, work_on(1e4, 5)), own * 0.8);
  }
}

// 0.1001 ms where an empty launch takes 0.1: the kernel's own time may be anything below the noise.
TEST(PowerLaw, HardlyListensToALaunchThatTookNoLongerThanAnEmptyOne) {
  const auto law = [](double outputs, double terms) { return 1e-6 * outputs * terms; };
  const CostModel cost = gpu();
  auto timed = timed_by(law);
  const double before = cost.kernel_ms(timed, work_on(1e5, 100));
  timed.push_back({work_on(10, 1), 0.1001});
  EXPECT_NEAR(cost.kernel_ms(timed, work_on(1e5, 100)) / before, 1, 0.1);
  timed.back() = {work_on(10, 1), 0.01};
  EXPECT_NEAR(cost.kernel_ms(timed, work_on(1e5, 100)) / before, 1, 0.1);
}

// Far beyond what was timed a device is full, and its memory has an end.
TEST(PowerLaw, TakesNoKernelToBeFasterThanItWasAtItsBestNorThanTheMemory) {
  PeaksReport peaks;
  peaks.launch_us = 100;
  peaks.bandwidth_gbs = 1000;  // 1e-9 ms a byte
  const CostModel cost(peaks, false, 0);
  const std::vector<TimedLaunch> timed = {{work_on(1e3, 10), 0.11}, {work_on(1e5, 10), 0.2}};
  EXPECT_GE(cost.kernel_ms(timed, work_on(1e8, 10)), 0.1 * 1e3 * 0.95);
  const CallWork copied{0, 1e10, 1e3};
  EXPECT_NEAR(cost.kernel_ms({{{0, 1e3, 1e3}, 0.11}}, copied), 10, 0.5);
}

// On an H200 a kernel of 13 us and one of 22 were as fast as the memory, as far as they were timed.
TEST(PowerLaw, TellsKernelsApartThatWouldBeAsFastAsTheMemory) {
  PeaksReport peaks;
  peaks.launch_us = 10;
  peaks.bandwidth_gbs = 1000;
  const CostModel cost(peaks, false, 0);
  const CallWork timed{0, 1e6, 1e3}, wanted{0, 1e9, 1e3};
  const double slow = cost.kernel_ms({{timed, 0.018}}, wanted),
               fast = cost.kernel_ms({{timed, 0.014}}, wanted);
  EXPECT_LT(fast, slow);
  EXPECT_NEAR(fast, 1, 0.05);
}

// Few elements of many terms leave most compute units idle: more of them take no longer.
TEST(PowerLaw, LetsMoreElementsTakeTheUnitsThatWereIdle) {
  PeaksReport peaks;
  peaks.launch_us = 100;
  const auto law = [](double, double terms) { return 1e-4 * terms; };
  std::vector<TimedLaunch> timed;
  for (const auto& [outputs, terms] : {std::pair(72.0, 6400.0), std::pair(16.0, 60.0)}) {
    timed.push_back({work_on(outputs, terms), 0.1 + law(outputs, terms)});
  }
  const CallWork wider = work_on(480, 1000), full = work_on(72e3, 6400);
  EXPECT_LT(CostModel(peaks, false, 0, 100).kernel_ms(timed, wider), 4 * law(480, 1000));
  EXPECT_GT(CostModel(peaks, false, 0, 1).kernel_ms(timed, wider), 6 * law(480, 1000));
  EXPECT_GT(CostModel(peaks, false, 0).kernel_ms(timed, wider), 6 * law(480, 1000));
  EXPECT_GT(CostModel(peaks, false, 0, 100).kernel_ms(timed, full), 10 * law(72, 6400));
}

// What a report says may be odd, or forged: a prediction is a number all the same.
TEST(PowerLaw, HasAFiniteTimeForAnyWorkAndAnyTimes) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const CostModel cost = gpu();
  for (const double size : {0.0, 1.0, 1e9, 1e300}) {
    for (const double ms : {1e-300, 0.1, 1.0, 1e300}) {
      const std::vector<TimedLaunch> timed = {
          {{size, size, size}, ms}, {{1, 1, 1}, 1}, {{1, 1, 1}, 1e6}};
      const double said = cost.kernel_ms(timed, {1e12, size, 1e6});
      EXPECT_TRUE(std::isfinite(said)) << size << " " << ms;
      EXPECT_GT(said, 0) << size << " " << ms;
    }
  }
  EXPECT_EQ(cost.kernel_ms({{{1, 1, 1}, kInf}}, {1, 1, 1}), 0);
}

// A launch of two layers that read next to nothing takes 0.06 ms, of large ones 0.1 ms.
TEST(TimeOfLayers, IsThatOfAsManyLayersAndOfTheMemory) {
  const UnitCosts costs{0, 1e-9, 0};
  const std::vector<OwnTime> timed = {{{1e6, 1e5, 1e3, 2}, 0.06, 0}, {{1e7, 1e7, 1e4, 1}, 0.1, 0}};
  EXPECT_NEAR(time_of_layers(timed, {1e10, 1e9, 1e5, 32}, costs), 32 * 0.03 + 1, 1e-9);
}

TEST(TimeOfLayers, OfAGpuIsWhatItsCostModelPredicts) {
  PeaksReport peaks;
  peaks.launch_us = 10;
  peaks.bandwidth_gbs = 1000;
  const CallWork layers{1e10, 1e9, 1e5, 32};
  const TimedLaunch timed{{1e6, 1e5, 1e3, 2}, 0.08, 0};
  EXPECT_NEAR(CostModel(peaks, false, 0).kernel_ms({timed}, layers), 32 * 0.035 + 1, 1e-9);
  // Among others a launch came each 0.06 ms: it takes no longer.
  const TimedLaunch piped{timed.work, timed.ms, 0.06};
  EXPECT_NEAR(CostModel(peaks, false, 0).kernel_ms({piped}, layers), 32 * 0.03 + 1, 1e-9);
}

}  // namespace
}  // namespace clvet
