#include "runtime/plan/cost.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/report/report.h"
#include "runtime/plan/kernel_time.h"

namespace clvet {
namespace {

PeaksReport measured_peaks() {
  PeaksReport peaks;
  peaks.launch_us = 100;
  peaks.piped_launch_us = 10;
  peaks.read_us = 50;
  peaks.read_gbs = 2;
  peaks.write_us = 20;
  peaks.write_gbs = 4;
  peaks.bandwidth_gbs = 10;
  return peaks;
}

TEST(CostModel, TakesLaunchesAndTransfersFromThePeaks) {
  const CostModel cost(measured_peaks(), true, 100);
  EXPECT_DOUBLE_EQ(cost.node_launch_ms(), 0.01) << "among others, as a processor's nodes are timed";
  EXPECT_DOUBLE_EQ(CostModel(measured_peaks(), false, 100).node_launch_ms(), 0.1);
  EXPECT_DOUBLE_EQ(cost.piped_ms({}, 0), 0.01);
  EXPECT_DOUBLE_EQ(cost.upload_ms(4e6), 0.02 + 1);
  EXPECT_DOUBLE_EQ(cost.download_ms(4e6), 0.05 + 2);
}

TEST(CostModel, TakesPeaksThatMakeNoSenseAsNotMeasured) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const std::optional<double> value :
       {std::optional<double>(), std::optional(kNan), std::optional(kInf), std::optional(-kInf),
        std::optional(-3.0), std::optional(0.0)}) {
    const PeaksReport peaks = {value, value, value, value, value, value, {}, value};
    const CostModel cost(peaks, true, 0);
    EXPECT_EQ(cost.node_launch_ms(), 0);
    EXPECT_EQ(CostModel(peaks, false, 0).node_launch_ms(), 0);
    EXPECT_EQ(cost.piped_ms({}, 0), 0);
    EXPECT_EQ(cost.upload_ms(1e9), 0);
    EXPECT_EQ(cost.download_ms(1e9), 0);
    EXPECT_NEAR(cost.kernel_ms({{{500, 100, 10}, 3}}, {500, 100, 10}), 3, 0.1);
  }
}

TEST(Work, OfManyProductsIsThatOfEach) {
  const auto work = [](const char* op, const Dims& dims) {
    return work_of(op, dims, *find_op_contract(op)->roles(dims), Precision::kHigh,
                   WeightType::kFloat);
  };
  const CallWork one = work("gemm", {{"M", 8}, {"N", 12}, {"K", 16}, {"W", 4}});
  const CallWork all = work("gemm_batch", {{"B", 5}, {"M", 8}, {"N", 12}, {"K", 16}, {"W", 4}});
  EXPECT_EQ(all.flops, 5 * one.flops);
  EXPECT_EQ(all.outputs, 5 * one.outputs);
}

TEST(CostModel, PredictsNothingWhereNothingWasTimed) {
  EXPECT_EQ(CostModel(measured_peaks(), true, 100).kernel_ms({}, {1e6, 1e6}), 0);
}

// Each timed launch took 0.1 ms besides.
TEST(CostModel, GoesAlongTheLineThroughTheTwoNearestSizes) {
  const CostModel cost(measured_peaks(), true, 100);
  const std::vector<TimedLaunch> timed = {{{3e6, 0}, 7.1}, {{1e6, 0}, 1.1}, {{5e6, 0}, 8.1}};
  const struct {
    double flops, ms;
  } rows[] = {{0.25e6, 0.25}, {1e6, 1},   {2e6, 4}, {2.5e6, 5.5},
              {3e6, 7},       {4e6, 7.5}, {5e6, 8}, {10e6, 10.5}};
  for (const auto& row : rows) {
    EXPECT_NEAR(cost.kernel_ms(timed, {row.flops, 0}), row.ms, 1e-9) << row.flops;
  }
}

// A kernel that always takes 2 ms, and 0.5 ms a million operations: no launch that is too small to
// fill the device is free, no large one pays the 2 ms again. One that slows down as it leaves the
// cache is in proportion to its largest, as is one of no sense (less time for more work).
TEST(CostModel, StaysBetweenNoCostAndFullCostForWorkBeyondWhatWasTimed) {
  const CostModel cost(measured_peaks(), true, 100);
  const struct {
    double small_ms, large_ms, flops, ms;
  } rows[] = {{3, 4, 1e6, 2.5}, {3, 4, 0, 2},   {3, 4, 8e6, 6}, {1, 8, 1e6, 0.5},
              {1, 8, 8e6, 16},  {5, 2, 1e6, 5}, {5, 2, 8e6, 4}, {4, 4, 1e6, 4},
              {4, 4, 8e6, 4},   {2, 4, 1e6, 1}, {2, 4, 8e6, 8}};
  for (const auto& row : rows) {
    EXPECT_NEAR(cost.kernel_ms({{{2e6, 0}, row.small_ms + 0.1}, {{4e6, 0}, row.large_ms + 0.1}},
                               {row.flops, 0}),
                row.ms, 1e-9)
        << row.small_ms << " " << row.large_ms << " " << row.flops;
  }
  // One size alone: in proportion.
  EXPECT_NEAR(cost.kernel_ms({{{2e6, 0}, 3.1}}, {8e6, 0}), 12, 1e-9);
}

// A kernel that wastes most of its work on few channels, of which the larger launch was timed, too.
TEST(CostModel, TakesMoreWorkThanWasTimedInProportionToTheLaunchThatIsMostLikeIt) {
  const CostModel cost(measured_peaks(), true, 100);
  const CallWork few{48e5, 1e6, 1e5}, many{29e6, 2e6, 6e5};
  const std::vector<TimedLaunch> timed = {{few, 0.4}, {many, 0.2}, {{48e3, 1e4, 1e3}, 0.11}};
  const auto times = [](const CallWork& work, double by) {
    return CallWork{by * work.flops, by * work.bytes, by * work.outputs};
  };
  EXPECT_NEAR(cost.kernel_ms(timed, times(few, 10)), 3, 1e-9);
  EXPECT_NEAR(cost.kernel_ms(timed, times(many, 4)), 0.4, 1e-9);
}

TEST(CostModel, AddsTheTimesOfArithmeticAndOfMemory) {
  const CostModel cost(measured_peaks(), true, 100);
  // 100 GFLOP/s and 10 GB/s: 1e8 operations take as long as 1e7 bytes.
  const std::vector<TimedLaunch> timed = {{{1e8, 1e7}, 4.1}};
  EXPECT_NEAR(cost.kernel_ms(timed, {2e8, 0}), 4, 1e-9);
  EXPECT_NEAR(cost.kernel_ms(timed, {0, 1e7}), 2, 1e-9);
}

TEST(CostModel, TakesAFiftiethOfATimeThatIsNotLongerThanAnEmptyLaunch) {
  const CostModel cost(measured_peaks(), true, 100);
  EXPECT_NEAR(cost.kernel_ms({{{1e6, 0}, 0.05}}, {1e6, 0}), 0.001, 1e-12);
  EXPECT_NEAR(cost.kernel_ms({{{1e6, 0}, 0.5}}, {1e6, 0}), 0.4, 1e-12);
}

// A wait costs 0.1 ms, a launch among others 0.01.
TEST(CostModel, BelievesLaunchesAmongOthersWhereTheyWereTimed) {
  const CostModel cost(measured_peaks(), true, 100);
  EXPECT_NEAR(cost.kernel_ms({{{1e6, 0}, 0.13, 0.015}}, {1e6, 0}), 0.005, 1e-12);
  PeaksReport unknown = measured_peaks();
  unknown.piped_launch_us.reset();
  EXPECT_NEAR(CostModel(unknown, true, 100).kernel_ms({{{1e6, 0}, 0.13, 0.015}}, {1e6, 0}), 0.03,
              1e-12);
}

// Something else had the processor while launches ran one behind the other: 13 ms, and 1 when
// waited for.
TEST(CostModel, TakesNoLaunchAmongOthersForLongerThanOneThatIsWaitedFor) {
  const CostModel cost(measured_peaks(), true, 100);
  EXPECT_NEAR(cost.kernel_ms({{{1e8, 0}, 1, 13}}, {1e8, 0}), 0.99, 1e-12);
}

// A GPU computes while the host launches the next: 0.12 ms of its own among launches of 0.01.
TEST(CostModel, BelievesLaunchesThatWereWaitedForOfAGpu) {
  const CostModel gpu(measured_peaks(), false, 100);
  EXPECT_NEAR(gpu.kernel_ms({{{1e6, 1e3, 1e3}, 0.22, 0.0101}}, {1e6, 1e3, 1e3}), 0.12, 0.01);
}

// An empty launch takes 0.01 ms among others, 0.1 alone.
TEST(CostModel, TakesAGpusLaunchFromTheShortKernelsThatItHides) {
  const TimedLaunch hidden = {{1e6}, 0.11, 0.015}, longer = {{1e6}, 0.112, 0.018},
                    shows = {{1e9}, 3.1, 0.0149}, longest = {{1e9}, 3.1, 3.05},
                    faster = {{1e6}, 0.105, 0.009}, untimed = {{1e6}, 0.11, 0};
  const struct {
    bool in_turn;
    std::vector<TimedLaunch> timed;
    double ms;
  } rows[] = {{false, {longer, hidden, shows, untimed}, 0.015},
              {false, {faster}, 0.01},
              {false, {shows}, 0.01},
              {false, {longest}, 0.01},
              {false, {untimed}, 0.01},
              {false, {}, 0.01},
              {true, {hidden}, 0.01}};
  for (const auto& row : rows) {
    EXPECT_DOUBLE_EQ(CostModel(measured_peaks(), row.in_turn, 100).piped_ms(row.timed, 0), row.ms);
  }
}

// The host has all of a kernel's time for the next launch. A kernel that takes longer is never the
// cheaper one for that.
TEST(CostModel, TakesNoMoreThanAnEmptyLaunchOfAKernelThatIsLongerThanItsOwn) {
  const CostModel gpu(measured_peaks(), false, 100);
  const std::vector<TimedLaunch> timed = {{{1e6}, 0.11, 0.015}};
  for (const auto& [kernel_ms, launch_ms] :
       {std::pair(0.0, 0.015), {0.01, 0.015}, {0.012, 0.014}, {0.02, 0.01}, {3.0, 0.01}}) {
    EXPECT_DOUBLE_EQ(gpu.piped_ms(timed, kernel_ms), launch_ms);
  }
}

TEST(CostModel, HasATimeForWorkThatCannotBeWeighed) {
  const CostModel cost(measured_peaks(), true, 100);
  EXPECT_NEAR(cost.kernel_ms({{{0, 0}, 3.1}}, {1e6, 0}), 3, 1e-9);
  EXPECT_NEAR(cost.kernel_ms({{{0, 0}, 3.1}}, {0, 0}), 3, 1e-9);
}

struct WorkRow {
  const char* name;
  const char* op;
  Dims dims;
  Precision precision;
  WeightType type;
  double flops, bytes;
};

void PrintTo(const WorkRow& row, std::ostream* out) { *out << row.name; }

class WorkOf : public testing::TestWithParam<WorkRow> {};

TEST_P(WorkOf, CountsOperationsAndBytes) {
  const WorkRow& row = GetParam();
  const auto roles = find_op_contract(row.op)->roles(row.dims);
  ASSERT_TRUE(roles) << roles.error().message;
  const CallWork work = work_of(row.op, row.dims, *roles, row.precision, row.type);
  EXPECT_DOUBLE_EQ(work.flops, row.flops);
  EXPECT_DOUBLE_EQ(work.bytes, row.bytes);
  EXPECT_GT(work.outputs, 0);
}

Dims pair_of(int64_t add) {
  return {{"N", 1},        {"H", 2},        {"W", 3},        {"C", 8},
          {"OC", 16},      {"KH", 3},       {"KW", 3},       {"OH", 2},
          {"OW", 3},       {"stride_h", 1}, {"stride_w", 1}, {"pad_top", 1},
          {"pad_left", 1}, {"dil_h", 1},    {"dil_w", 1},    {"add", add}};
}

// A copy of 2 lines.
Dims moved(int64_t width, int64_t channels) {
  Dims dims = {{"N", 1},  {"H", 2},         {"W", width},     {"C", channels}, {"ON", 1},
               {"OH", 2}, {"OW", width},    {"OC", channels}, {"E0", 1},       {"E1", 1},
               {"E2", 2}, {"E3", width},    {"R2", width},    {"R3", 1},       {"F0", 1},
               {"F1", 1}, {"F2", channels}, {"QF2", 1}};
  for (const char* zero : {"R0", "R1", "Q0", "Q1", "Q2", "Q3", "RF0", "RF1", "RF2", "QF0", "QF1",
                           "row0", "channel0"}) {
    dims[zero] = 0;
  }
  return dims;
}

const Dims kGemm = {{"M", 8}, {"N", 16}, {"K", 32}, {"W", 1}, {"act", 0}};
constexpr double kGemmFlops = 2 * 8 * 16 * 32;

// Written out: x, w, bias, y of a gemm; others as their contracts say.
INSTANTIATE_TEST_SUITE_P(
    Ops, WorkOf,
    testing::Values(
        WorkRow{"gemm_high", "gemm", kGemm, Precision::kHigh, WeightType::kFloat, kGemmFlops,
                8 * 32 * 4 + 32 * 16 * 4 + 16 * 4 + 8 * 16 * 4},
        WorkRow{"gemm_normal", "gemm", kGemm, Precision::kNormal, WeightType::kFloat, kGemmFlops,
                8 * 32 * 2 + 32 * 16 * 2 + 16 * 4 + 8 * 16 * 2},
        WorkRow{"gemm_int8", "gemm", kGemm, Precision::kHigh, WeightType::kInt8, kGemmFlops,
                8 * 32 * 4 + 32 * 16 + 2 * 16 * 4 + 16 * 4 + 8 * 16 * 4},
        WorkRow{"gemm_int4_low", "gemm", kGemm, Precision::kLow, WeightType::kInt4, kGemmFlops,
                8 * 32 * 2 + 32 * 16 / 2 + 2 * 16 * 2 + 16 * 4 + 8 * 16 * 2},
        WorkRow{"gemm_q4_0", "gemm", kGemm, Precision::kHigh, WeightType::kQ4_0, kGemmFlops,
                8 * 32 * 4 + 32 * 16 / 2 + 16 * 2 + 16 * 4 + 8 * 16 * 4},
        WorkRow{"gemm_of_odd_extents",
                "gemm",
                {{"M", 8}, {"N", 1}, {"K", 30}, {"W", 1}, {"act", 0}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * 8 * 4 * 32,
                8 * 32 * 4 + 30 * 4 + 4 + 8 * 4 * 4},
        WorkRow{"bmm",
                "bmm",
                {{"N", 3}, {"H", 1}, {"M", 4}, {"K", 12}, {"C", 8}, {"N2", 1}, {"H2", 1}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * 3 * 4 * 8 * 12,
                4.0 * (3 * 4 * 12 + 12 * 8 + 3 * 4 * 8)},
        WorkRow{"bmm_of_one_term",
                "bmm",
                {{"N", 3}, {"H", 1}, {"M", 4}, {"K", 1}, {"C", 8}, {"N2", 1}, {"H2", 1}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * 3 * 4 * 8,
                4.0 * (3 * 4 * 4 + 8 + 3 * 4 * 8)},
        WorkRow{"attention",
                "attention",
                {{"M", 2}, {"H", 2}, {"KV", 1}, {"D", 4}, {"P", 5}, {"cap", 16}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * (2 * 8) * 2 * (5 + 2),
                4.0 * (2 * 8 + 7 * 4 + 7 * 4 + 2 * 8)},
        WorkRow{"rope",
                "rope",
                {{"M", 2}, {"H", 2}, {"KV", 1}, {"D", 8}, {"P", 5}, {"cap", 16}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * 2 * (2 + 2) * 8,
                4.0 * (2 * 32 + 2 * 2 * 4 + 2 * 8 + 2 * 32)},
        WorkRow{"attention_rope",
                "attention_rope",
                {{"H", 2}, {"KV", 1}, {"D", 8}, {"P", 5}, {"cap", 16}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * (4 * 8) * 2 * (5 + 1),
                4.0 * (2 * 6 * 8 + 32 + 2 * 4 + 2 * 8 + 4 * 8)},
        WorkRow{"attention_qkv",
                "attention_qkv",
                {{"N", 32}, {"K", 16}, {"H", 2}, {"KV", 1}, {"D", 8}, {"P", 5}, {"cap", 16}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * (4 * 8) * (16 + 2 * (5 + 1)),
                4.0 * (2 * 6 * 8 + 16 + 16 + 32 * 16 + 32 + 2 * 4 + 2 * 8 + 2 * 8)},
        WorkRow{"gemv_fused_gated",
                "gemv_fused",
                {{"N", 64}, {"K", 32}, {"gated", 1}, {"norm", 1}, {"add", 1}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * 64 * 32,
                4.0 * (32 + 32 + 64 * 32 + 64 + 32 + 32)},
        WorkRow{"depthwise_gemm", "depthwise_gemm", pair_of(0), Precision::kHigh,
                WeightType::kFloat, 2.0 * (6 * 16) * (8 + 9 * 8 / 16.0),
                4.0 * (6 * 8 + 8 * 16 + 9 * 16 + 8 + 16 + 6 * 16)},
        WorkRow{"depthwise_gemm_and_a_sum", "depthwise_gemm", pair_of(1), Precision::kHigh,
                WeightType::kFloat, 2.0 * (6 * 16) * (8 + 9 * 8 / 16.0),
                4.0 * (6 * 8 + 8 * 16 + 9 * 16 + 8 + 16 + 2 * 6 * 16)},
        WorkRow{"conv2d_branches",
                "conv2d_branches",
                {{"N", 2},
                 {"H", 3},
                 {"W", 5},
                 {"C", 8},
                 {"P", 16},
                 {"OC", 48},
                 {"KH", 3},
                 {"KW", 1},
                 {"OH", 3},
                 {"OW", 5},
                 {"stride_h", 1},
                 {"stride_w", 1},
                 {"pad_top", 1},
                 {"pad_left", 0},
                 {"dil_h", 1},
                 {"dil_w", 1}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * 30 * (8 * 16 + 3 * 8 * 32),
                4.0 * (30 * 8 + 8 * 16 + 3 * 8 * 32 + 48 + 30 * 48)},
        WorkRow{"move_of_long_rows", "move", moved(5, 24), Precision::kHigh, WeightType::kFloat,
                2.0 * 2 * 5 * 24, 2 * (4.0 * 2 * 5 * 24)},
        WorkRow{"move_of_short_rows", "move", moved(5, 3), Precision::kHigh, WeightType::kFloat,
                2.0 * 2 * 5 * 3, 2 * (2.0 * 5 * 64)},
        WorkRow{"pool_global",
                "pool_global",
                {{"N", 2}, {"H", 3}, {"W", 5}, {"C", 8}, {"kind", 1}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * (2 * 8) * (3 * 5),
                4.0 * (2 * 3 * 5 * 8 + 2 * 8)},
        WorkRow{"reduce",
                "reduce",
                {{"M", 6}, {"W", 1}, {"C", 512}, {"code", 0}, {"act", 0}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * 6 * 512,
                4.0 * (6 * 512 + 6 * 4)},
        WorkRow{"gather",
                "gather",
                {{"O", 1}, {"E", 100}, {"I", 3}, {"R", 1}, {"C", 8}, {"W", 1}, {"OW", 1}},
                Precision::kHigh,
                WeightType::kFloat,
                2.0 * 3 * 8,
                4.0 * (3 + 3 * 8 + 3 * 8)}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace clvet
