#include "runtime/run/history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/cache/program_cache.h"
#include "runtime/exec/flight.h"
#include "runtime/plan/plan.h"
#include "runtime/run/doubt.h"
#include "tests/support.h"

namespace clvet {
namespace {

class HistoryTest : public testing::Test {
 protected:
  static Report report() {
    Report made;
    made.created = "2026-01-01";
    made.devices.resize(1);
    made.devices[0].environment_key = "key";
    return made;
  }

  const test::TempDir dir_;
  const History history_{dir_.path()};
};

TEST_F(HistoryTest, ForgetsWhatWasConfirmedOnADeviceOnceSomethingFailedThere) {
  ASSERT_TRUE(history_.keep({{"plan a", {7, 2, true, 1.5}}}, "key"));
  ASSERT_TRUE(history_.keep({{"plan b", {5, 0, false}}}, "other"));
  const auto kept = history_.rhythm("plan a");
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept->every, 7);
  EXPECT_EQ(kept->since, 2);
  EXPECT_TRUE(kept->odd);
  EXPECT_EQ(kept->ms, 1.5);
  ASSERT_TRUE(history_.bury(tombstone_of("key", Fault{.variant = "gemm"})));
  EXPECT_FALSE(history_.rhythm("plan a"));
  EXPECT_TRUE(history_.rhythm("plan b"));
}

TEST_F(HistoryTest, TellsAReportWhatItsDevicesAreNotTrustedWith) {
  Report told = report();
  history_.tell(told);
  EXPECT_TRUE(told.tombstones.empty());
  ASSERT_TRUE(history_.bury(tombstone_of("key", Fault{.variant = "gemm"})));
  history_.tell(told);
  ASSERT_EQ(told.tombstones.size(), 1u);
  EXPECT_EQ(told.tombstones[0].variant, "gemm");
  EXPECT_FALSE(History::saw_death(told));
  ASSERT_TRUE(history_.bury(tombstone_of("key", Fault{.verdict = Verdict::kHang})));
  history_.tell(told);
  EXPECT_TRUE(History::saw_death(told));
}

TEST_F(HistoryTest, RemembersThePrecisionThatAModelNeeds) {
  EXPECT_FALSE(history_.needed_precision("model", "key"));
  ASSERT_TRUE(history_.keep_precision("model", "key", Precision::kHigh));
  EXPECT_EQ(history_.needed_precision("model", "key"), Precision::kHigh);
  EXPECT_FALSE(history_.needed_precision("model", "other"));
}

TEST_F(HistoryTest, RemembersTheNodesThatAModelNeedsAtHigh) {
  EXPECT_FALSE(history_.mixed_precision("model", "key"));
  const History::MixedPrecision mixed{Precision::kLow, {"a", "b \"quoted\""}, 0.125, true};
  ASSERT_TRUE(history_.keep_mixed("model", "key", mixed));
  const auto found = history_.mixed_precision("model", "key");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->precision, Precision::kLow);
  EXPECT_EQ(found->raised, mixed.raised);
  EXPECT_EQ(found->residual_scale, 0.125);
  EXPECT_TRUE(found->faster);
  EXPECT_FALSE(history_.mixed_precision("model", "other"));
}

TEST_F(HistoryTest, TrustsNodesAtHighNoMoreOnceTheyWereNotEnough) {
  ASSERT_TRUE(history_.keep_mixed("model", "key", {.raised = {"a"}}));
  ASSERT_TRUE(history_.keep_precision("model", "key", Precision::kHigh));
  EXPECT_FALSE(history_.mixed_precision("model", "key"));
  ASSERT_TRUE(history_.keep_mixed("model", "key", {.raised = {"a"}}));
  ASSERT_TRUE(history_.bury(tombstone_of("key", Fault{.variant = "gemm"})));
  EXPECT_FALSE(history_.mixed_precision("model", "key"));
}

TEST(HistoryWithoutAFolder, KeepsNothing) {
  const History history("");
  ASSERT_TRUE(history.keep({{"plan", {}}}, "key"));
  EXPECT_FALSE(history.rhythm("plan"));
  EXPECT_TRUE(history.bury(tombstone_of("key", Fault{})));
}

TEST(HistoryKey, IsOfThePlansKernelsShapesAndCombination) {
  ExecutionPlan plan;
  plan.phases = {{"run", {}, {{.variant = "a"}}, 0}};
  plan.subject.inputs["x"] = {1, 2};
  const std::string key = History::key_of(plan);
  ExecutionPlan other = plan;
  other.phases[0].steps[0].variant = "b";
  EXPECT_NE(History::key_of(other), key);
  other = plan;
  other.subject.inputs["x"] = {1, 3};
  EXPECT_NE(History::key_of(other), key);
  other = plan;
  other.combination.precision = Precision::kNormal;
  EXPECT_NE(History::key_of(other), key);
  EXPECT_EQ(History::key_of(plan), key);
}

class LostBinary : public HistoryTest {
 protected:
  static FlightSnapshot lost() {
    FlightSnapshot made;
    made.environment_key = "key";
    made.variant = "gemm";
    made.stage = Stage::kBuild;
    made.inside = true;
    return made;
  }
  bool learn(const FlightSnapshot& flight) const {
    return history_.learn_from(flight, Verdict::kCrash, "it died");
  }
  std::vector<std::string> distrusted() const {
    std::vector<std::string> keys;
    const auto rows = distrusted_programs(program_cache_folder(dir_.path()));
    for (const DistrustedProgram& row : rows) keys.push_back(row.program_key);
    return keys;
  }
  size_t tombstones() const {
    Report told = report();
    history_.tell(told);
    return told.tombstones.size();
  }
};

TEST_F(LostBinary, IsAtFaultAndNotTheKernel) {
  FlightSnapshot flight = lost();
  flight.binary = "program";
  ASSERT_TRUE(learn(flight));
  EXPECT_THAT(distrusted(), testing::ElementsAre("program"));
  EXPECT_EQ(tombstones(), 0u);
}

TEST_F(LostBinary, IsTheLastOneWhereTheDriverDiedOfAnotherBefore) {
  FlightSnapshot flight = lost();
  for (const char* program : {"one", "two"}) {
    flight.binary = program;
    ASSERT_TRUE(learn(flight));
  }
  EXPECT_THAT(distrusted(), testing::Contains(kAllPrograms));
}

TEST_F(LostBinary, IsSuspectedBeforeTheKernelThatItHolds) {
  FlightSnapshot flight = lost();
  flight.stage = Stage::kEnqueue;
  flight.used_binaries = true;
  ASSERT_TRUE(learn(flight));
  EXPECT_THAT(distrusted(), testing::ElementsAre(kAllPrograms));
  EXPECT_EQ(tombstones(), 0u);
  flight.used_binaries = false;
  ASSERT_TRUE(learn(flight));
  EXPECT_EQ(tombstones(), 1u);
}

// A driver that gave memory where there is none: the last kernel has nothing to do with it.
TEST_F(LostBinary, IsNotLookedForWhereTheDriverDiedInAMap) {
  FlightSnapshot flight = lost();
  flight.stage = Stage::kMap;
  ASSERT_TRUE(learn(flight));
  Report told = report();
  history_.tell(told);
  ASSERT_EQ(told.tombstones.size(), 1u);
  EXPECT_EQ(told.tombstones[0].variant, kMapReads);
}

TEST_F(LostBinary, IsNotAtFaultWhereTheDriverDidNothing) {
  FlightSnapshot flight = lost();
  flight.inside = false;
  flight.binary = "program";
  EXPECT_FALSE(learn(flight));
  EXPECT_TRUE(distrusted().empty());
}

TEST(LostFlight, IsAFaultOnlyWhereTheDriverWorked) {
  FlightSnapshot flight;
  flight.environment_key = "key";
  flight.variant = "gemm";
  flight.stage = Stage::kEnqueue;
  EXPECT_FALSE(fault_of(flight)) << "between calls";
  flight.pending = 1;
  EXPECT_EQ(fault_of(flight)->variant, "gemm");
  flight.pending = 3;
  EXPECT_EQ(fault_of(flight)->variant, "") << "any of them";
  flight.inside = true;
  flight.finished = true;
  EXPECT_FALSE(fault_of(flight)) << "the verb was done";
}

TEST(Checks, TakeTheirShareOfTheTime) {
  EXPECT_EQ(inferences_between_checks(10, 10, 0.02), 50);
  EXPECT_EQ(inferences_between_checks(1, 100, 0.02), 1);
  EXPECT_GT(inferences_between_checks(1, 0, 0.02), 1000);
}

TEST(Checks, LookAtAnAnswerThatCameFarSoonerThanTheConfirmedOne) {
  EXPECT_TRUE(is_too_fast({.ms = 10}, 2));
  EXPECT_FALSE(is_too_fast({.ms = 10}, 3));
  EXPECT_FALSE(is_too_fast({}, 0.001)) << "no time was noted";
}

}  // namespace
}  // namespace clvet
