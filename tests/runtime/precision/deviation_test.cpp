#include "runtime/precision/deviation.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
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

// Summed up plainly, in the order of the values.
Deviation plain(const std::vector<float>& values, const std::vector<float>& reference) {
  Deviation sum;
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(reference[i])) continue;
    if (!std::isfinite(values[i])) {
      ++sum.lost;
      continue;
    }
    const double apart = static_cast<double>(values[i]) - reference[i];
    ++sum.compared;
    sum.most = std::fmax(sum.most, std::fabs(apart));
    sum.squares += apart * apart;
    sum.reference_squares += static_cast<double>(reference[i]) * reference[i];
    sum.value_squares += static_cast<double>(values[i]) * values[i];
    sum.products += static_cast<double>(values[i]) * reference[i];
  }
  return sum;
}

TEST(Deviation, OfManyValuesIsTheSumOverEach) {
  for (const size_t count : {7u, 8u, 9u, 16384u, 16391u, 50001u}) {
    std::vector<float> values, reference;
    for (size_t i = 0; i < count; ++i) {
      const auto noise = static_cast<float>(i * 2654435761u % 1000) / 1000;
      reference.push_back(i % 11 == 4 ? kInf : noise - 0.5f);
      values.push_back(i % 7 == 3 ? NAN : (noise - 0.5f) * (i % 2 == 0 ? 1.25f : -1));
    }
    const Deviation found = deviation_of(values, reference), wanted = plain(values, reference);
    EXPECT_EQ(found.compared, wanted.compared) << count;
    EXPECT_EQ(found.lost, wanted.lost) << count;
    EXPECT_FLOAT_EQ(static_cast<float>(found.most), static_cast<float>(wanted.most)) << count;
    EXPECT_NEAR(found.squares, wanted.squares, 1e-9 * wanted.squares) << count;
    EXPECT_NEAR(found.reference_squares, wanted.reference_squares, 1e-9 * wanted.squares);
    EXPECT_NEAR(found.value_squares, wanted.value_squares, 1e-9 * wanted.value_squares) << count;
    EXPECT_NEAR(found.products, wanted.products, 1e-9 * wanted.squares) << count;
  }
}

}  // namespace
}  // namespace clvet
