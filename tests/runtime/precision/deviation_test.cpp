#include "runtime/precision/deviation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace clvet {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

Deviation deviation_of(const std::vector<float>& values, const std::vector<float>& reference) {
  Deviation deviation;
  deviation.add(values, reference);
  return deviation;
}

TEST(Deviation, IsTheErrorBesideTheSizeOfTheReference) {
  const Deviation deviation = deviation_of({3, 4.5f}, {3, 4});
  EXPECT_DOUBLE_EQ(deviation.most, 0.5);
  EXPECT_DOUBLE_EQ(deviation.rms(), std::sqrt(0.125));
  EXPECT_DOUBLE_EQ(deviation.reference(), std::sqrt(12.5));
  EXPECT_DOUBLE_EQ(deviation.part(), 0.1);
  EXPECT_DOUBLE_EQ(deviation.snr_db(), 20);
  EXPECT_NEAR(deviation.cosine(), (9 + 18) / std::sqrt(25 * 29.25), 1e-12);
}

TEST(Deviation, CountsWhatIsLostAndLeavesOutWhatTheReferenceDoesNotHave) {
  const Deviation lost = deviation_of({NAN, kInf, 1}, {1, 2, 1});
  EXPECT_EQ(lost.lost, 2);
  EXPECT_EQ(lost.compared, 1);
  EXPECT_TRUE(std::isinf(lost.part()));
  const Deviation odd = deviation_of({5, NAN, 1}, {kInf, NAN, 1});
  EXPECT_EQ(odd.lost, 0);
  EXPECT_EQ(odd.part(), 0);
}

TEST(Deviation, OfZerosIsNothingAndFromZerosIsInfinite) {
  EXPECT_EQ(deviation_of({0, 0}, {0, 0}).part(), 0);
  EXPECT_EQ(deviation_of({0, 0}, {0, 0}).cosine(), 1);
  EXPECT_TRUE(std::isinf(deviation_of({1e-9f, 0}, {0, 0}).part()));
  EXPECT_DOUBLE_EQ(deviation_of({0, 0}, {1, 2}).part(), 1);
  EXPECT_EQ(deviation_of({0, 0}, {1, 2}).cosine(), 0);
  EXPECT_EQ(Deviation().part(), 0);
}

TEST(Deviation, TakesSeveralTensorsTogether) {
  Deviation both;
  both.add(std::vector<float>{3}, std::vector<float>{3});
  both.add(std::vector<float>{4.5f}, std::vector<float>{4});
  EXPECT_DOUBLE_EQ(both.part(), 0.1);
  EXPECT_EQ(both.compared, 2);
}

}  // namespace
}  // namespace clvet
