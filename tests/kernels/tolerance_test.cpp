#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <random>
#include <utility>

#include "base/half.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/tolerance.h"

namespace clvet {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

ReferenceResult plain(Values values) {
  ReferenceResult reference;
  reference.value = std::move(values);
  return reference;
}

double to_half(double value) { return half_to_float(double_to_half(value)); }

TEST(Comparison, AcceptsEitherNeighbourInTheStorageType) {
  const ReferenceResult reference = plain({1.0004});
  for (const Precision precision : {Precision::kLow, Precision::kNormal}) {
    EXPECT_TRUE(compare(reference, Values{1.0}, precision).right);
    EXPECT_TRUE(compare(reference, Values{1.0009765625}, precision).right);
    EXPECT_FALSE(compare(reference, Values{1.00293}, precision).right);
  }
  EXPECT_FALSE(compare(reference, Values{1.0}, Precision::kHigh).right);
}

TEST(Comparison, HoldsAnOpInFloatToTheRoundoffOfFloatAtEveryPrecision) {
  ReferenceResult reference = plain({1});
  reference.functions = {16};
  EXPECT_TRUE(compare(reference, Values{1.004}, Precision::kLow).right);
  reference.in_float = true;
  EXPECT_FALSE(compare(reference, Values{1.004}, Precision::kLow).right);
  EXPECT_TRUE(compare(reference, Values{1.0009765625}, Precision::kLow).right);
}

TEST(Comparison, AcceptsAFlushedSubnormal) {
  EXPECT_TRUE(compare(plain({3e-5}), Values{0}, Precision::kNormal).right);
  EXPECT_FALSE(compare(plain({3e-5}), Values{0}, Precision::kHigh).right);
  EXPECT_TRUE(compare(plain({1e-39}), Values{0}, Precision::kHigh).right);
}

TEST(Comparison, TakesTheLargestHalfAndInfinityForWhatIsBeyond) {
  const ReferenceResult reference = plain({70000});
  EXPECT_TRUE(compare(reference, Values{65504}, Precision::kNormal).right);
  EXPECT_TRUE(compare(reference, Values{kInfinity}, Precision::kLow).right);
  EXPECT_FALSE(compare(reference, Values{-kInfinity}, Precision::kLow).right);
  EXPECT_FALSE(compare(reference, Values{60000}, Precision::kLow).right);
  EXPECT_FALSE(compare(plain({60000}), Values{kInfinity}, Precision::kLow).right);
  EXPECT_FALSE(compare(reference, Values{kInfinity}, Precision::kHigh).right);
}

TEST(Comparison, MatchesNanOnlyWithNan) {
  EXPECT_TRUE(compare(plain({std::nan("")}), Values{std::nan("")}, Precision::kHigh).right);
  EXPECT_FALSE(compare(plain({std::nan("")}), Values{0}, Precision::kHigh).right);
  EXPECT_FALSE(compare(plain({1}), Values{std::nan("")}, Precision::kLow).right);
}

TEST(Comparison, NamesTheFirstBadElementAndTheWorstRatio) {
  const Comparison result = compare(plain({1, 2, 3, 4}), Values{1, 2.5, 3, 9}, Precision::kHigh);
  EXPECT_FALSE(result.right);
  EXPECT_EQ(result.first_bad, 1);
  EXPECT_EQ(result.bad, 2);
  EXPECT_EQ(result.got, 2.5);
  EXPECT_EQ(result.want, 2);
  EXPECT_EQ(result.max_abs, 5);
  EXPECT_GT(result.worst_ratio, 1e6);
}

TEST(Comparison, RefusesAnOutputThatIsTooShort) {
  EXPECT_FALSE(compare(plain({0, 0}), Values{0}, Precision::kHigh).right);
}

// Sums of n products, in half throughout, in four interleaved partial sums and in one.
struct SumCase {
  int n;
  int lanes;
};

class HalfSums : public testing::TestWithParam<SumCase> {};

TEST_P(HalfSums, StayWithinTheBoundAndZerosDoNot) {
  const auto [n, lanes] = GetParam();
  std::mt19937 random(static_cast<unsigned>(n));
  std::normal_distribution<double> normal;
  ReferenceResult reference;
  reference.reduction = n;
  Values device;
  for (int element = 0; element < 400; ++element) {
    Values partial(static_cast<size_t>(lanes), 0);
    double sum = 0, squares = 0;
    for (int i = 0; i < n; ++i) {
      const double a = to_half(normal(random)), b = to_half(normal(random));
      sum += a * b;
      squares += a * b * a * b;
      double& lane = partial[static_cast<size_t>(i % lanes)];
      lane = to_half(lane + to_half(a * b));
    }
    double total = 0;
    for (const double lane : partial) total = to_half(total + lane);
    reference.value.push_back(sum);
    reference.sum_squares.push_back(squares);
    device.push_back(total);
  }
  const Comparison right = compare(reference, device, Precision::kLow);
  EXPECT_TRUE(right.right) << "worst ratio " << right.worst_ratio;
  EXPECT_GT(compare(reference, Values(device.size(), 0), Precision::kLow).bad, 200);
  Values shifted(device.begin() + 1, device.end());
  shifted.push_back(device[0]);
  EXPECT_GT(compare(reference, shifted, Precision::kLow).bad, 200);
  EXPECT_GT(compare(reference, device, Precision::kNormal).bad, 0)
      << "half sums are not good enough for float arithmetic";
}

INSTANTIATE_TEST_SUITE_P(Lengths, HalfSums,
                         testing::Values(SumCase{9, 1}, SumCase{64, 1}, SumCase{64, 4},
                                         SumCase{512, 1}, SumCase{1500, 8}));

TEST(Bounds, GrowWithTheSlopeOfTheActivation) {
  ReferenceResult reference = plain({1, 1});
  reference.sum_squares = {4, 4};
  reference.reduction = 10;
  reference.sensitivity = {1, 3};
  const Values bounds = error_bounds(reference, Precision::kLow);
  EXPECT_GT(bounds[1], 2 * bounds[0]);
}

}  // namespace
}  // namespace clvet
