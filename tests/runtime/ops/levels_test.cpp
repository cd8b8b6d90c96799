// Levels, LevelExtremes, LevelScale, LevelZero, AsFloats, AsIntegers, ConvSums and MatMulSums.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using test::floats;
using test::run_one;
using ::testing::ElementsAre;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Node step(std::string_view op, size_t inputs, Attributes attributes = {}) {
  Node node = test::make_node("Identity", inputs, std::move(attributes));
  node.op = op;
  node.domain = kStepsDomain;
  node.def = find_op(kStepsDomain, op);
  return node;
}

Tensor levels(std::vector<float> x, float scale, float zero, int64_t kind) {
  const auto count = static_cast<int64_t>(x.size());
  return run_one(step(kLevels, 3, {{"lo", 0.0}, {"hi", 15.0}, {"kind", kind}}),
                 {Tensor::from<float>({count}, x), Tensor::scalar(scale), Tensor::scalar(zero)});
}

TEST(Levels, RoundTiesToEvenAndStayInTheirRange) {
  EXPECT_THAT(floats(levels({0.25f, 0.75f, -0.25f, 9, -9, kNan}, 0.5f, 10, 0)),
              ElementsAre(10, 12, 10, 15, 0, 0));
  EXPECT_THAT(floats(levels({0.25f, 0.75f, -9}, 0.5f, 10, 1)), ElementsAre(0, 2, -10));
  EXPECT_THAT(floats(levels({0.25f, 0.75f, -9}, 0.5f, 10, 2)), ElementsAre(0, 1, -5));
}

TEST(Levels, StayWithTheHostUnderAScaleWhoseReciprocalOverflows) {
  const Node node = step(kLevels, 3);
  for (const float scale : {1e-40f, 0.f, -1.f, kNan}) {
    const std::vector<Tensor> inputs = {test::noise({2, 3}), Tensor::scalar(scale),
                                        Tensor::scalar(0.f)};
    const auto call = test::make_call(node, inputs, {false, true, true});
    EXPECT_EQ(lower_node(call, View::kChannelsLast).kind, LoweringKind::kHost) << scale;
  }
}

TEST(Levels, TakeAScaleThatAnEarlierNodeMakes) {
  const std::vector<Tensor> inputs = {test::noise({2, 3}), Tensor::scalar(1.f),
                                      Tensor::scalar(0.f)};
  const Node node = step(kLevels, 3);
  const auto op = [&](const std::vector<bool>& constant) {
    return lower_node(test::make_call(node, inputs, constant), View::kChannelsLast).calls.at(0).op;
  };
  EXPECT_EQ(op({false, true, true}), "quantize");
  EXPECT_EQ(op({false, false, true}), "quantize_by");
  EXPECT_EQ(op({false, false, false}), "quantize_by");
}

TEST(LevelExtremes, HoldZeroAndKeepANan) {
  const Node node = step(kLevelExtremes, 1);
  EXPECT_THAT(floats(run_one(node, {Tensor::of<float>({3}, {1, -2, 0.5f})})), ElementsAre(1, -2));
  EXPECT_THAT(floats(run_one(node, {Tensor::of<float>({2}, {3, 4})})), ElementsAre(4, 0));
  EXPECT_TRUE(std::isnan(floats(run_one(node, {Tensor::of<float>({2}, {3, kNan})}))[0]));
}

TEST(LevelExtremes, OfManyTexelsAreThoseOfPartsFirst) {
  const Node node = step(kLevelExtremes, 1);
  const auto calls = [&](const Shape& shape) {
    const std::vector<Tensor> inputs = {test::noise(shape)};
    return lower_node(test::make_call(node, inputs, {false}), View::kChannelsFirst).calls;
  };
  EXPECT_EQ(calls({2, 3}).size(), 1u);
  const auto two = calls({1, 8, 20, 20});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].dims.at("P"), 29);
  EXPECT_EQ(two[1].dims.at("W"), 29);
  EXPECT_EQ(two[1].dims.at("P"), 1);
}

TEST(LevelScaleAndZero, AreThoseOfDynamicQuantizeLinear) {
  const Tensor ends = Tensor::of<float>({2}, {2, -3.1f}), none = Tensor::of<float>({2}, {0, 0});
  EXPECT_FLOAT_EQ(floats(run_one(step(kLevelScale, 1), {ends}))[0], 0.02f);
  EXPECT_EQ(floats(run_one(step(kLevelZero, 1), {ends}))[0], 155);
  EXPECT_EQ(floats(run_one(step(kLevelScale, 1), {none}))[0], 1);
  EXPECT_EQ(floats(run_one(step(kLevelZero, 1), {none}))[0], 0);
}

TEST(Sums, OfIntegersAreExactOnTheHost) {
  const std::vector<Tensor> inputs = {
      Tensor::of<uint8_t>({1, 2}, {200, 3}), Tensor::of<int8_t>({2, 1}, {-128, 5}),
      Tensor::scalar<uint8_t>(10), Tensor::scalar<int8_t>(1), Tensor::of<int32_t>({1}, {7})};
  EXPECT_THAT(floats(run_one(step(kMatMulSums, 5), inputs)), ElementsAre(190 * -129 + -7 * 4 + 7));
}

TEST(Sums, RefuseIntegersThatDoNotFitThem) {
  const auto outputs = test::run_op(
      step(kMatMulSums, 5), {Tensor::of<uint8_t>({1, 2}, {1, 2}),
                             Tensor::of<uint8_t>({2, 1}, {1, 2}), Tensor::scalar<uint8_t>(0),
                             Tensor::scalar<uint8_t>(0), Tensor::of<int32_t>({3}, {1, 2, 3})});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::kInvalidArgument);
}

TEST(LevelsAs, FloatsAndIntegersAreTheSameNumbers) {
  const Tensor bytes = Tensor::of<int8_t>({3}, {-128, 0, 127});
  const Tensor wide = run_one(step(kAsFloats, 1), {bytes});
  EXPECT_THAT(floats(wide), ElementsAre(-128, 0, 127));
  EXPECT_TRUE(bitwise_equal(run_one(step(kAsIntegers, 1, {{"to", int64_t{3}}}), {wide}), bytes));
}

}  // namespace
}  // namespace clvet
