#include "runtime/plan/evidence.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/variant_table.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

const std::string kVariant = "gemm_tile4x4/high/normal/buffer/buffer/float";

// Of gemm's shape "odd": 7 rows of 9 numbers to 5.
VerdictReport verdict_on(const std::string& shape, Verdict verdict, double ms = 0) {
  VerdictReport row;
  row.device = "d0";
  row.case_name = kVariant + "/" + shape;
  row.op = "gemm";
  row.kernel = "gemm_tile4x4";
  row.variant_key = variant_key_of(kVariant);
  row.combination = {Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
  row.weight_type = WeightType::kFloat;
  row.verdict = verdict;
  row.median_ms = ms;
  return row;
}

DeviceEvidence evidence_of_rows(const std::vector<VerdictReport>& rows) {
  Report report;
  report.devices = {test::device_with()};
  report.verdicts = rows;
  return evidence_of(report, report.devices[0], *test::table());
}

VariantEvidence on_variant(const std::vector<VerdictReport>& rows) {
  const DeviceEvidence evidence = evidence_of_rows(rows);
  const auto found = evidence.variants.find(variant_key_of(kVariant));
  return found == evidence.variants.end() ? VariantEvidence() : found->second;
}

TEST(Evidence, HoldsBothTimesOfALaunch) {
  VerdictReport row = verdict_on("odd", Verdict::kPass, 0.3);
  row.piped_ms = 0.2;
  const VariantEvidence found = on_variant({row});
  ASSERT_EQ(found.timed.size(), 1u);
  EXPECT_EQ(found.timed[0].ms, 0.3);
  EXPECT_EQ(found.timed[0].piped_ms, 0.2);
}

// A host that was half as fast while this kernel was timed.
TEST(Evidence, TakesTimesAsTheyWereWhereALaunchTakesWhatThePeaksSay) {
  VerdictReport row = verdict_on("odd", Verdict::kPass, 0.03);
  row.piped_ms = 0.012;
  row.launch_ms = 0.02;
  row.piped_launch_ms = 0.008;
  Report report;
  report.devices = {test::device_with()};
  report.devices[0].peaks.launch_us = 10;
  report.devices[0].peaks.piped_launch_us = 4;
  report.verdicts = {row};
  const auto times = [&] {
    const DeviceEvidence evidence = evidence_of(report, report.devices[0], *test::table());
    return evidence.variants.at(variant_key_of(kVariant)).timed.at(0);
  };
  EXPECT_NEAR(times().ms, 0.02, 1e-9);
  EXPECT_NEAR(times().piped_ms, 0.008, 1e-9);
  report.verdicts[0].median_ms = 0.02;
  EXPECT_NEAR(times().ms, 0.0104, 1e-9) << "a fiftieth is left of what took no longer than nothing";
  report.devices[0].peaks.launch_us.reset();
  EXPECT_EQ(times().ms, 0.02);
}

TEST(Evidence, TrustsAVariantOnceItPassedAndNeverFailed) {
  EXPECT_TRUE(on_variant({verdict_on("odd", Verdict::kPass)}).trusted());
  EXPECT_FALSE(on_variant({}).trusted());
  EXPECT_FALSE(on_variant({verdict_on("odd", Verdict::kWrong)}).trusted());
  for (const bool first : {true, false}) {
    const auto row = on_variant({verdict_on("odd", first ? Verdict::kPass : Verdict::kHang),
                                 verdict_on("k_tail", first ? Verdict::kHang : Verdict::kPass)});
    EXPECT_FALSE(row.trusted());
    EXPECT_EQ(row.passed, 1);
    EXPECT_EQ(row.failed, 1);
    EXPECT_EQ(row.worst, Verdict::kHang);
  }
}

TEST(Evidence, TellsTheFirstFailure) {
  VerdictReport first = verdict_on("odd", Verdict::kNotTried);
  first.evidence.note = "not tried: this program ended alike on 4 test shapes";
  VerdictReport second = verdict_on("k_tail", Verdict::kWrong);
  second.evidence.note = "a later one";
  const auto row = on_variant({first, second});
  EXPECT_EQ(row.worst, Verdict::kNotTried);
  EXPECT_EQ(row.why, first.evidence.note);
  EXPECT_EQ(row.failed, 2);
}

TEST(Evidence, IsOfOneDeviceAlone) {
  VerdictReport other = verdict_on("odd", Verdict::kCrash);
  other.device = "d1";
  const auto row = on_variant({other, verdict_on("odd", Verdict::kPass)});
  EXPECT_TRUE(row.trusted());
}

TEST(Evidence, TakesTheWorkOfATimeFromTheShapeThatWasTimed) {
  const auto row = on_variant({verdict_on("odd", Verdict::kPass, 2.5)});
  ASSERT_EQ(row.timed.size(), 1u);
  EXPECT_EQ(row.timed[0].ms, 2.5);
  EXPECT_EQ(row.timed[0].piped_ms, 0);
  // Rows of 9 and of 5 numbers are padded to 12 and 8.
  EXPECT_DOUBLE_EQ(row.timed[0].work.flops, 2 * 7 * 8 * 12);
  EXPECT_DOUBLE_EQ(row.timed[0].work.bytes, 4 * (7 * 12 + 9 * 5 + 5 + 7 * 8));
}

TEST(Evidence, WeighsWeightsAsTheVariantStoresThem) {
  VerdictReport row = verdict_on("odd", Verdict::kPass, 1);
  row.weight_type = WeightType::kInt8;
  row.combination.precision = Precision::kNormal;
  EXPECT_DOUBLE_EQ(on_variant({row}).timed[0].work.bytes,
                   2 * 7 * 12 + 9 * 5 * (1 + 2.0 * 2 / 32) + 4 * 5 + 2 * 7 * 8);
  row.weight_type.reset();
  EXPECT_DOUBLE_EQ(on_variant({row}).timed[0].work.bytes, 2 * (7 * 12 + 9 * 5) + 4 * 5 + 2 * 7 * 8);
}

TEST(Evidence, LeavesOutTimesThatSayNothing) {
  VerdictReport stranger = verdict_on("odd", Verdict::kPass, 1);
  stranger.kernel = "gemm_of_old";
  for (const VerdictReport& row :
       {verdict_on("odd", Verdict::kPass, 0), verdict_on("odd", Verdict::kPass, -1),
        verdict_on("no_such_shape", Verdict::kPass, 1), verdict_on("odd", Verdict::kWrong, 1),
        stranger}) {
    EXPECT_TRUE(on_variant({row}).timed.empty()) << row.case_name;
  }
}

TEST(Evidence, WeighsArithmeticByTheFastestKernelThatWasRight) {
  VerdictReport fast = verdict_on("odd", Verdict::kPass),
                wrong = verdict_on("odd", Verdict::kWrong),
                slow = verdict_on("odd", Verdict::kPass);
  fast.gflops = 100;
  slow.gflops = 10;
  wrong.gflops = 1e9;
  Report report;
  report.devices = {test::device_with()};
  report.devices[0].type = "cpu";
  report.devices[0].peaks.bandwidth_gbs = 10;
  report.verdicts = {slow, fast, wrong, slow};
  const CostModel cost = evidence_of(report, report.devices[0], *test::table()).cost;
  // 1e8 operations then take as long as 1e7 bytes.
  EXPECT_NEAR(cost.kernel_ms({{{1e8, 0}, 1}}, {0, 2e7}), 2, 1e-9);
}

TEST(Evidence, OfTrialsCountsNoMoreOnceAVariantFailedInUse) {
  Report report;
  report.devices = {test::device_with()};
  report.devices[0].environment_key = "key";
  report.verdicts = {verdict_on("odd", Verdict::kPass)};
  const auto trusted = [&](const Tombstone& tombstone) {
    report.tombstones = {tombstone};
    const DeviceEvidence evidence = evidence_of(report, report.devices[0], *test::table());
    return evidence.variants.at(variant_key_of(kVariant)).trusted();
  };
  EXPECT_FALSE(trusted({.environment_key = "key", .variant = kVariant}));
  EXPECT_FALSE(trusted({.environment_key = "key", .variant = ""})) << "nothing of the device is";
  EXPECT_TRUE(trusted({.environment_key = "other", .variant = kVariant}));
  EXPECT_TRUE(trusted({.environment_key = "key", .variant = "another"}));
  EXPECT_TRUE(trusted({.environment_key = "key", .variant = kMapReads}));
}

}  // namespace
}  // namespace clvet
