#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::floats;
using test::list;
using test::make_node;

using test::refusal;
using test::run_one;
using ::testing::Each;
using ::testing::HasSubstr;

Node named(Node node, std::string name) {
  node.name = std::move(name);
  return node;
}

struct Moments {
  double mean = 0, variance = 0, skew = 0;
};
Moments moments_of(const std::vector<float>& values) {
  Moments m;
  const auto count = static_cast<double>(values.size());
  for (const float v : values) m.mean += v / count;
  for (const float v : values) m.variance += std::pow(v - m.mean, 2) / count;
  for (const float v : values) m.skew += std::pow((v - m.mean) / std::sqrt(m.variance), 3) / count;
  return m;
}

// Of n values the mean is known to sigma / sqrt(n), a variance of a normal distribution to sqrt(2 /
// n) of it: five times that.
TEST(Random, NormalNumbersHaveTheMeanAndTheScaleOfTheNode) {
  const Tensor like = test::noise({100, 400});
  const Moments m = moments_of(
      floats(run_one(make_node("RandomNormalLike", 1, {{"mean", -3.0}, {"scale", 0.5}}), {like})));
  EXPECT_NEAR(m.mean, -3, 0.0125);
  EXPECT_NEAR(m.variance, 0.25, 0.0089);
  EXPECT_NEAR(m.skew, 0, 0.061);
}

TEST(Random, UniformNumbersLieBetweenTheBoundsOfTheNode) {
  const std::vector<float> values = floats(run_one(
      make_node("RandomUniform", 0, {{"shape", list({200, 200})}, {"low", 2.0}, {"high", 6.0}}),
      {}));
  EXPECT_THAT(values, Each(::testing::AllOf(::testing::Ge(2), ::testing::Le(6))));
  const Moments m = moments_of(values);
  EXPECT_NEAR(m.mean, 4, 0.029);
  EXPECT_NEAR(m.variance, 16.0 / 12, 0.04);
}

TEST(Random, AnotherRunGivesTheSameNumbersAndAnotherNodeOthers) {
  const Tensor like = test::noise({64});
  const Node one = named(make_node("RandomNormalLike", 1), "one");
  const Node other = named(make_node("RandomNormalLike", 1), "other");
  EXPECT_EQ(floats(run_one(one, {like})), floats(run_one(one, {like})));
  EXPECT_NE(floats(run_one(one, {like})), floats(run_one(other, {like})));
}

TEST(Random, ASeedDecidesWhateverTheNodeIsCalled) {
  const Tensor like = test::noise({64});
  const auto with = [](double seed) { return make_node("RandomUniformLike", 1, {{"seed", seed}}); };
  EXPECT_EQ(floats(run_one(named(with(7), "one"), {like})),
            floats(run_one(named(with(7), "other"), {like})));
  EXPECT_NE(floats(run_one(with(7), {like})), floats(run_one(with(8), {like})));
}

TEST(Random, TypesAndShapesThatCannotBeAreRefused) {
  const Tensor like = test::noise({2, 3});
  EXPECT_EQ(run_one(make_node("RandomNormalLike", 1, {{"dtype", int64_t{11}}}), {like}).dtype(),
            DType::kF64);
  EXPECT_EQ(run_one(make_node("RandomNormalLike", 1), {Tensor::of<int64_t>({2}, {1, 2})}).dtype(),
            DType::kF32);
  EXPECT_THAT(refusal(make_node("RandomNormalLike", 1, {{"dtype", int64_t{7}}}), {like}),
              HasSubstr("i64"));
  EXPECT_THAT(refusal(make_node("RandomNormal", 0), {}), HasSubstr("attribute 'shape'"));
  EXPECT_FALSE(refusal(make_node("RandomNormal", 0, {{"shape", list({-2})}}), {}).empty());
  EXPECT_THAT(refusal(make_node("RandomNormal", 1, {{"shape", list({2})}}), {like}),
              HasSubstr("no input"));
}

}  // namespace
}  // namespace clvet
