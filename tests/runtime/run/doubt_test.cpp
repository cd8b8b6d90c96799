#include "runtime/run/doubt.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/plan/planning.h"

namespace clvet {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor row(const std::vector<float>& values) {
  return Tensor::from(Shape{static_cast<int64_t>(values.size())}, std::span<const float>(values));
}

std::optional<Fault> fault_in(const std::vector<float>& device, const std::vector<float>& host,
                              const std::string& variant) {
  const Tensor got = row(device), want = row(host);
  FaultFinder finder;
  finder.look({"node", test::table()->find(variant), "y", got, want, false});
  return finder.fault();
}

const std::string kHigh = "gemm_tile4x4/high/normal/buffer/buffer/float",
                  kNormal = "gemm_tile4x4/normal/normal/buffer/buffer/float";

TEST(FaultFinder, AllowsWhatRoundingExplainsAtEachPrecision) {
  EXPECT_FALSE(fault_in({1.00001F, -8}, {1, -8}, kHigh));
  EXPECT_TRUE(fault_in({1.01F, -8}, {1, -8}, kHigh));
  EXPECT_FALSE(fault_in({1.01F, -8}, {1, -8}, kNormal));
  EXPECT_TRUE(fault_in({1.5F, -8}, {1, -8}, kNormal));
}

TEST(Fault, OfAMapAsksForNoOtherPrecision) {
  Fault fault{.variant = "gemm", .range = true};
  blame_maps(fault);
  EXPECT_EQ(fault.variant, kMapReads);
  EXPECT_FALSE(fault.range);
}

// The step of half precision is 2^-11 of a value: float32 in name alone.
TEST(FaultFinder, FindsWhatRoundsToHalfByStealth) {
  EXPECT_TRUE(fault_in({1 + 0x1p-11F, 0.5F}, {1, 0.5F}, kHigh));
}

TEST(FaultFinder, AllowsRoundingToTheFloatsOf16BitsThatTheModelHas) {
  const auto fault_of = [&](float device, double step) {
    const Tensor got = row({device, 0.5F}), want = row({1, 0.5F});
    FaultFinder finder;
    finder.look({"node", test::table()->find(kHigh), "y", got, want, false, step});
    return finder.fault().has_value();
  };
  const double halves = step_part(DType::kF16), bfloats = step_part(DType::kBF16);
  EXPECT_FALSE(fault_of(1 + 0x1p-10F, halves));
  EXPECT_TRUE(fault_of(1 + 0x1p-10F, 0));
  EXPECT_TRUE(fault_of(1.02F, halves));
  EXPECT_FALSE(fault_of(1.02F, bfloats));
  EXPECT_TRUE(fault_of(1.04F, bfloats));
}

// The end of Gelu's negative side: 1 + erf(x) has few digits left.
TEST(FaultFinder, AsksTheReferenceWhereDigitsCancel) {
  const Tensor got = row({-1.5902e-3F}), want = row({-1.5900e-3F});
  int asked = 0;
  const auto fault_of = [&](const Tensor& device, bool right) {
    FaultFinder finder;
    finder.look({"node", test::table()->find(kHigh), "y", device, want, false, 0, 0, [&] {
                   ++asked;
                   return right;
                 }});
    return finder.fault().has_value();
  };
  EXPECT_FALSE(fault_of(got, true));
  EXPECT_TRUE(fault_of(got, false));
  EXPECT_EQ(asked, 2);
  EXPECT_FALSE(fault_of(want, false));
  EXPECT_TRUE(fault_of(row({kNan}), true));
  EXPECT_EQ(asked, 2) << "it takes long";
}

// A quotient beside a tie rounds to either level.
TEST(FaultFinder, AllowsAnotherLevelAtFewElementsOfWhatRoundsToLevels) {
  const auto fault_of = [&](size_t elements, size_t others, float by, double step) {
    std::vector<float> host(elements, 8), device = host;
    for (size_t i = 0; i < others; ++i) device[i] += by;
    const Tensor got = row(device), want = row(host);
    FaultFinder finder;
    finder.look({"node", test::table()->find(kHigh), "y", got, want, false, 0, step});
    return finder.fault().has_value();
  };
  EXPECT_FALSE(fault_of(128, 3, 1, 1));
  EXPECT_FALSE(fault_of(1, 1, -0.25F, 0.25));
  EXPECT_TRUE(fault_of(128, 4, 1, 1)) << "ties are rare";
  EXPECT_TRUE(fault_of(128, 1, 2, 1)) << "two levels apart";
  EXPECT_TRUE(fault_of(128, 1, 0.5F, 0.25)) << "two levels apart";
  EXPECT_TRUE(fault_of(128, 1, kNan, 1));
  EXPECT_TRUE(fault_of(128, 1, 1, 0)) << "it rounds to no levels";
}

TEST(FaultFinder, NamesTheKernelAndTheNode) {
  const auto fault = fault_in({0, 0}, {1, 2}, kHigh);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->variant, kHigh);
  EXPECT_EQ(fault->node, "node");
  EXPECT_EQ(fault->verdict, Verdict::kWrong);
  EXPECT_FALSE(fault->range);
}

TEST(FaultFinder, TellsARangeThatIsTooSmallFromAWrongKernel) {
  EXPECT_TRUE(fault_in({INFINITY, 1}, {70000, 1}, kNormal)->range);
  EXPECT_TRUE(fault_in({kNan, 1}, {5, 1}, kNormal)->range);
  EXPECT_FALSE(fault_in({kNan, 1}, {5, 1}, kHigh)->range);
}

TEST(FaultFinder, ComparesNothingWithWhatIsNotFiniteOnTheHost) {
  EXPECT_FALSE(fault_in({kNan, INFINITY, 1}, {kNan, INFINITY, 1}, kHigh));
  EXPECT_FALSE(fault_in({1, 1, 1}, {kNan, 1, 1}, kHigh));
  EXPECT_TRUE(fault_in({1, 2, 1}, {kNan, 1, 1}, kHigh));
}

TEST(FaultFinder, ComparesZerosWithZeros) {
  EXPECT_FALSE(fault_in({0, 0}, {0, 0}, kHigh));
  EXPECT_TRUE(fault_in({1e-3F, 0}, {0, 0}, kHigh));
}

TEST(Suspicion, IsOfValuesThatNothingComputed) {
  EXPECT_EQ(suspicion_of(Outputs{{"y", row({1, 2})}}), "");
  EXPECT_EQ(suspicion_of(Outputs{{"y", row({3})}}), "") << "one value is not alike";
  EXPECT_NE(suspicion_of(Outputs{{"y", row({0, 0})}}), "");
  EXPECT_NE(suspicion_of(Outputs{{"y", row({1, kNan})}}), "");
  EXPECT_NE(suspicion_of(Outputs{{"y", row({1, -INFINITY})}}), "");
  const std::vector<float> same{4, 4};
  EXPECT_NE(suspicion_of(std::span<const float>(same)), "");
}

TEST(Suspicion, NamesTheSign) {
  const auto said = [](const std::vector<float>& values) {
    return suspicion_of(Outputs{{"y", row(values)}});
  };
  EXPECT_EQ(said({0, 0}), "all values of output 'y' are zero");
  EXPECT_EQ(said({2, 2}), "all values of output 'y' are equal");
  EXPECT_EQ(said({kNan, 2}), "output 'y' has values that are not finite");
  EXPECT_EQ(said({65504, 2}), "many values of output 'y' are at the limit of half");
}

TEST(Suspicion, IsRefutedWhereTheHostsAnswerDoesNotLookSo) {
  const Outputs saturated{{"y", row({65504, -65504, 3})}}, beyond{{"y", row({9e4F, -7e4F, 3})}};
  EXPECT_THAT(refuted_suspicion(saturated, beyond), testing::HasSubstr("at the limit of half"));
  EXPECT_EQ(refuted_suspicion(saturated, saturated), "");
  EXPECT_EQ(refuted_suspicion(beyond, saturated), "") << "it does not look wrong";
  const Outputs zero{{"y", row({0, 0})}}, constant{{"y", row({1, 1})}};
  EXPECT_NE(refuted_suspicion(zero, constant), "");
  EXPECT_EQ(refuted_suspicion(zero, {}), "");
}

TEST(Disagreement, IsBetweenAnswersToTheSameInputs) {
  const Outputs one{{"y", row({1, 2})}};
  EXPECT_EQ(disagreement(one, one, Precision::kHigh), "");
  EXPECT_EQ(disagreement(one, {{"y", row({1.00001F, 2})}}, Precision::kHigh), "");
  EXPECT_NE(disagreement(one, {{"y", row({1, 3})}}, Precision::kLow), "");
  EXPECT_NE(disagreement(one, {{"z", row({1, 2})}}, Precision::kLow), "");
  EXPECT_NE(disagreement(one, {{"y", row({1, 2, 3})}}, Precision::kLow), "");
}

}  // namespace
}  // namespace clvet
