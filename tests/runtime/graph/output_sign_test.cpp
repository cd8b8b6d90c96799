#include "runtime/graph/output_sign.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

constexpr float kInf = INFINITY, kLimit = 65504;

// Rows of `width` probabilities that are sure of `places`.
std::vector<float> sure_rows(const std::vector<size_t>& places, size_t width, float sure = 1) {
  std::vector<float> values(places.size() * width, (1 - sure) / static_cast<float>(width - 1));
  for (size_t row = 0; row < places.size(); ++row) values[row * width + places[row]] = sure;
  return values;
}

TEST(OutputSign, IsOfValuesThatAreNotFinite) {
  for (const float value : {NAN, kInf, -kInf}) {
    EXPECT_EQ(sign_of(std::vector<float>{value}), OutputSign::kNotFinite);
    EXPECT_EQ(sign_of(std::vector<float>{1, 2, value, 3}), OutputSign::kNotFinite);
    std::vector<float> many(1000, 1);
    many[777] = value;
    EXPECT_EQ(sign_of(many), OutputSign::kNotFinite);
  }
}

TEST(OutputSign, IsOfValuesThatAreAllAlike) {
  EXPECT_EQ(sign_of(std::vector<float>{0, 0}), OutputSign::kZero);
  EXPECT_EQ(sign_of(std::vector<float>{0, -0.F}), OutputSign::kZero);
  EXPECT_EQ(sign_of(std::vector<float>{3, 3, 3}), OutputSign::kConstant);
  EXPECT_EQ(sign_of(std::vector<float>{3}), OutputSign::kNone) << "one value is not alike";
  EXPECT_EQ(sign_of(std::vector<float>{3, 4, 3}), OutputSign::kNone);
  EXPECT_EQ(sign_of(std::vector<float>{}), OutputSign::kNone);
}

TEST(OutputSign, IsOfManyValuesAtTheLimitOfHalf) {
  std::vector<float> values(100);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  for (size_t i = 0; i < 5; ++i) values[i] = i % 2 == 0 ? kLimit : -kLimit;
  EXPECT_EQ(sign_of(values), OutputSign::kNone) << "a twentieth may be chance";
  values[5] = kLimit;
  EXPECT_EQ(sign_of(values), OutputSign::kSaturated);
  for (size_t i = 0; i < 6; ++i) values[i] = 70000 + static_cast<float>(i);
  EXPECT_EQ(sign_of(values), OutputSign::kNone) << "half does not hold these";
}

TEST(OutputSign, IsOfRowsThatAreAllSureOfTheSame) {
  EXPECT_EQ(sign_of(sure_rows({2, 2, 2, 2}, 5), 5), OutputSign::kCollapsed);
  EXPECT_EQ(sign_of(sure_rows({2, 2, 2, 2}, 5, 0.9995F), 5), OutputSign::kCollapsed);
  EXPECT_EQ(sign_of(sure_rows({2, 2, 2, 2}, 5, 0.99F), 5), OutputSign::kNone);
  EXPECT_EQ(sign_of(sure_rows({2, 2, 1, 2}, 5), 5), OutputSign::kNone) << "they differ";
  EXPECT_EQ(sign_of(sure_rows({2}, 5), 5), OutputSign::kNone) << "a classifier may be sure";
  EXPECT_EQ(sign_of(sure_rows({2, 2, 2}, 5), 5), OutputSign::kNone) << "three are chance";
  EXPECT_EQ(sign_of(sure_rows({2, 2, 2, 2}, 5)), OutputSign::kNone) << "there are no rows";
  std::vector<float> mask(20, 0);
  for (size_t row = 0; row < 4; ++row) mask[row * 5] = mask[row * 5 + 1] = 1;
  EXPECT_EQ(sign_of(mask, 5), OutputSign::kNone) << "no probabilities: the sum is 2";
}

TEST(OutputSign, OfATensorTakesTheLastDimensionAsRows) {
  const std::vector<float> values = sure_rows({1, 1, 1, 1}, 3);
  EXPECT_EQ(sign_of(Tensor::from<float>({1, 4, 3}, values)), OutputSign::kCollapsed);
  EXPECT_EQ(sign_of(Tensor::from<float>({1, 12}, values)), OutputSign::kNone);
  EXPECT_EQ(sign_of(Tensor::from<float>({1, 4, 3}, values).cast(DType::kF16).value()),
            OutputSign::kCollapsed);
  EXPECT_EQ(sign_of(Tensor::of<float>({}, {4})), OutputSign::kNone);
  EXPECT_EQ(sign_of(Tensor::from<float>({4, 0}, std::vector<float>{})), OutputSign::kNone);
  EXPECT_EQ(sign_of(Tensor::create(DType::kI64, {4}).value()), OutputSign::kNone);
}

// Half's largest, 65504, is 65536 in bfloat16.
TEST(OutputSign, OfATensorOfBfloat16SeesWhatASaturatedHalfBecomes) {
  const auto bfloats = [](std::vector<float> values) {
    return Tensor::from<float>({4}, values).cast(DType::kBF16).value();
  };
  EXPECT_EQ(sign_of(bfloats({1, 2, 65504, -3})), OutputSign::kSaturated);
  EXPECT_EQ(sign_of(bfloats({1, 2, 1e5f, -3})), OutputSign::kNone);
  EXPECT_EQ(sign_of(bfloats({1, 2, 3e38f, 3.4e38f})), OutputSign::kNotFinite);
  EXPECT_EQ(sign_of(bfloats({0, 0, 0, 0})), OutputSign::kZero);
}

TEST(OutputSign, HasAWordForEach) {
  EXPECT_EQ(std::string(to_string(OutputSign::kNone)), "none");
  EXPECT_EQ(std::string(to_string(OutputSign::kCollapsed)), "collapsed");
}

}  // namespace
}  // namespace clvet
