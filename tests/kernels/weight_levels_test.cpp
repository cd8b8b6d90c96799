#include "kernels/weight_levels.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"

namespace clvet {
namespace {

using testing::Each;
using testing::ElementsAre;

// As DequantizeLinear makes it: (level - zero) * scale in float32.
double number(int level, int zero, float scale) { return static_cast<float>(level - zero) * scale; }

// Column i has its own scale; levels walk through all of `low` to `low` + 255 where rows suffice.
Values dequantised(int64_t rows, const std::vector<float>& scales, int low, int zero) {
  Values values;
  for (int64_t row = 0; row < rows; ++row) {
    for (const float scale : scales) {
      values.push_back(number(low + static_cast<int>(row * 37 % 256), zero, scale));
    }
  }
  return values;
}

TensorRole weights(int64_t taps, int64_t cin, int64_t cout) {
  return {.name = "w", .kind = TensorKind::kWeights, .taps = taps, .cin = cin, .cout = cout};
}

// What a fused product and sum gives.
Values read(const TensorRole& role, const Values& values, const WeightLevels& levels) {
  Values read = effective_levels(role, Precision::kHigh, values, levels);
  for (double& value : read) value = static_cast<float>(value);
  return read;
}

TEST(LevelsOf, KeepsWholeNumbersExactly) {
  for (const int zero : {0, 3, 128, 255}) {
    const Values values = dequantised(256, {1}, 0, zero);
    const auto levels = levels_of(values, 1);
    ASSERT_TRUE(levels) << zero;
    EXPECT_EQ(read(weights(1, 256, 1), values, *levels), values);
  }
}

TEST(LevelsOf, FindsTheScaleOfEachColumnAndKeepsItsSignedLevelsExactly) {
  const std::vector<float> scales = {0.0123F, 1.7e-5F, 3.0F};
  const Values values = dequantised(300, scales, -128, 0);
  const auto levels = levels_of(values, 3);
  ASSERT_TRUE(levels);
  EXPECT_EQ(levels->scales, scales);
  EXPECT_EQ(read(weights(3, 100, 3), values, *levels), values);
}

TEST(LevelsOf, FindsAStepThatNoNumberIs) {
  const Values values = {number(-6, 0, 0.1F), number(9, 0, 0.1F), number(-10, 0, 0.1F)};
  const auto levels = levels_of(values, 1);
  ASSERT_TRUE(levels);
  EXPECT_FLOAT_EQ(levels->scales[0], 0.1F);
}

TEST(LevelsOf, IsOffByARoundingOfTheLargestAtMostWhereTheZeroPointIsAny) {
  for (int zero = 0; zero < 256; ++zero) {
    const float scale = 0.0371F;
    const Values values = dequantised(256, {scale}, 0, zero);
    const auto levels = levels_of(values, 1);
    ASSERT_TRUE(levels) << zero;
    const Values got = read(weights(1, 256, 1), values, *levels);
    for (size_t i = 0; i < got.size(); ++i)
      EXPECT_NEAR(got[i], values[i], 0x1p-22 * 255 * scale) << zero;
  }
}

TEST(LevelsOf, TakesAColumnOfOneNumber) {
  const Values values = {0.0, -1.25, 0.0, -1.25, 0.0, -1.25};
  const auto levels = levels_of(values, 2);
  ASSERT_TRUE(levels);
  EXPECT_THAT(levels->scales, Each(0));
  EXPECT_THAT(levels->offsets, ElementsAre(0, -1.25F));
}

TEST(LevelsOf, RefusesWhatIsNoLevel) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Values between = dequantised(256, {0.5F}, -128, 0);
  between[7] += 0.01;
  Values wider = dequantised(256, {1}, -128, 0);
  wider[7] = 128;
  for (const Values& values :
       {between, wider, Values{0.3, -0.7, 0.11, 0.013}, Values{1, nan}, Values{1, infinity},
        Values{1e-320, 3e-320}, Values{1e300, -1e300}, Values{}}) {
    EXPECT_FALSE(levels_of(values, 1)) << testing::PrintToString(values).substr(0, 60);
  }
}

TEST(LevelsOf, RefusesAllWhereOneColumnIsNone) {
  Values values = dequantised(64, {1, 1}, 0, 10);
  values[1] += 0.25;
  values[3] += 0.1;
  EXPECT_FALSE(levels_of(values, 2));
}

TEST(PackLevels, GivesEachBlockTheScaleOfItsColumn) {
  const TensorRole role = weights(9, 6, 5);
  const std::vector<float> scales = {1, 0.5F, 0.25F, 2, 4};
  const Values values = dequantised(54, scales, -100, 0);
  const auto levels = levels_of(values, role.cout);
  ASSERT_TRUE(levels);
  const PackedWeights packed =
      pack_levels(role, Precision::kHigh, Storage::kBuffer, 16, values, *levels);
  const PackedSize size =
      packed_size(role, Precision::kHigh, WeightType::kInt8, Storage::kBuffer, 16);
  ASSERT_EQ(packed.data.size(), size.data);
  ASSERT_EQ(packed.scales.size(), size.scales);
  const auto* stored = reinterpret_cast<const float*>(packed.scales.data());
  const int64_t blocks = (weight_rows(role) + kQuantBlock - 1) / kQuantBlock;
  for (int64_t block = 0; block < blocks; ++block) {
    for (size_t c = 0; c < scales.size(); ++c)
      EXPECT_EQ(stored[static_cast<size_t>(block) * 32 + c], scales[c]);
  }
  const auto word = [&](int64_t row, int64_t column) {
    const auto* words = reinterpret_cast<const uint16_t*>(packed.data.data());
    return words[row / 2 * 16 + column] >> (row % 2 * 8) & 255;
  };
  for (int64_t tap = 0; tap < role.taps; ++tap) {
    for (int64_t ci = 0; ci < role.cin; ++ci) {
      for (int64_t c = 0; c < role.cout; ++c) {
        const double value = values[static_cast<size_t>((tap * role.cin + ci) * role.cout + c)];
        const auto at = static_cast<size_t>(c);
        EXPECT_EQ(word(tap * 8 + ci, c) * levels->scales[at] + levels->offsets[at], value);
      }
    }
  }
}

}  // namespace
}  // namespace clvet
