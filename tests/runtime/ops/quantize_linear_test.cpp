// QuantizeLinear, DequantizeLinear, QLinearConv and QLinearMatMul, worked out by hand.
#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::make_node;
using test::refusal;
using test::run_one;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(QuantizeLinear, RoundsTiesToEvenAndSaturates) {
  const Tensor x = Tensor::of<float>({6}, {0, 1, 3, 5, 1000, -1000});
  const Tensor y = run_one(make_node("QuantizeLinear", 3),
                           {x, Tensor::scalar(2.f), Tensor::scalar<uint8_t>(10)});
  EXPECT_EQ(y.dtype(), DType::kU8);
  EXPECT_THAT(y.to_i64(), ElementsAre(10, 10, 12, 12, 255, 0));
}

TEST(QuantizeLinear, HasAScaleForEachIndexOfItsAxisOrForEachBlock) {
  const Tensor x = Tensor::of<float>({2, 3}, {2, 4, 6, 8, 10, 12});
  const Tensor zeros = Tensor::of<int16_t>({2}, {0, -1});
  EXPECT_THAT(run_one(make_node("QuantizeLinear", 3, {{"axis", int64_t{0}}}),
                      {x, Tensor::of<float>({2}, {2, 4}), zeros})
                  .to_i64(),
              ElementsAre(1, 2, 3, 1, 1, 2));
  const Node blocks =
      make_node("QuantizeLinear", 2, {{"axis", int64_t{1}}, {"block_size", int64_t{2}}}, 21);
  EXPECT_THAT(run_one(blocks, {x, Tensor::of<float>({2, 2}, {1, 2, 4, 6})}).to_i64(),
              ElementsAre(2, 4, 3, 2, 2, 2));
}

TEST(DequantizeLinear, TakesOffTheZeroPointBeforeItScales) {
  const Tensor x = Tensor::of<int8_t>({2, 2}, {-128, 127, 3, 0});
  EXPECT_THAT(test::floats(run_one(make_node("DequantizeLinear", 3),
                                   {x, Tensor::scalar(0.5f), Tensor::scalar<int8_t>(-1)})),
              ElementsAre(-63.5f, 64, 2, 0.5f));
  EXPECT_THAT(test::floats(run_one(make_node("DequantizeLinear", 2, {{"axis", int64_t{-1}}}),
                                   {x, Tensor::of<float>({2}, {1, 2})})),
              ElementsAre(-128, 254, 3, 0));
}

// As onnxruntime's quantiser writes the bias of a convolution.
TEST(DequantizeLinear, TakesOneScaleAndOneZeroPointOfOtherRanks) {
  const Tensor x = Tensor::of<int32_t>({2}, {-128, 127});
  EXPECT_THAT(
      test::floats(run_one(make_node("DequantizeLinear", 3),
                           {x, Tensor::of<float>({1}, {0.5f}), Tensor::scalar<int32_t>(2)})),
      ElementsAre(-65, 62.5f));
}

TEST(QuantizeLinear, RefusesScalesThatDoNotFit) {
  const Tensor x = test::noise({2, 3});
  const Tensor two = Tensor::of<float>({2}, {1, 1});
  EXPECT_THAT(refusal(make_node("QuantizeLinear", 2), {x, two}), HasSubstr("do not fit"));
  EXPECT_THAT(refusal(make_node("QuantizeLinear", 2, {{"axis", int64_t{2}}}), {x, two}),
              HasSubstr("axis"));
  EXPECT_THAT(refusal(make_node("QuantizeLinear", 2, {{"block_size", int64_t{-2}}}), {x, two}),
              HasSubstr("block_size"));
  EXPECT_THAT(refusal(make_node("QuantizeLinear", 2, {{"output_dtype", int64_t{17}}}),
                      {x, Tensor::scalar(1.f)}),
              HasSubstr("a type that clvet lacks"));
  EXPECT_THAT(refusal(make_node("DequantizeLinear", 2), {x, two}), HasSubstr("the type f32"));
}

// (1 2) . (3 4) less the zero points: (1-1)*(3-0) + (2-1)*(4-0) = 4, times 0.5 * 2 / 0.25.
TEST(QLinearMatMul, ScalesTheExactSum) {
  const Tensor a = Tensor::of<uint8_t>({1, 2}, {1, 2}), b = Tensor::of<uint8_t>({2, 1}, {3, 4});
  const Tensor zero = Tensor::scalar<uint8_t>(0);
  EXPECT_THAT(run_one(make_node("QLinearMatMul", 8),
                      {a, Tensor::scalar(0.5f), Tensor::scalar<uint8_t>(1), b, Tensor::scalar(2.f),
                       zero, Tensor::scalar(0.25f), Tensor::scalar<uint8_t>(5)})
                  .to_i64(),
              ElementsAre(21));
}

TEST(QLinearConv, HasAScaleAndABiasForEachFilter) {
  const Tensor x = Tensor::of<uint8_t>({1, 1, 2}, {10, 12});
  const Tensor w = Tensor::of<int8_t>({2, 1, 1}, {2, -3});
  const std::vector<Tensor> inputs = {x,
                                      Tensor::scalar(1.f),
                                      Tensor::scalar<uint8_t>(8),
                                      w,
                                      Tensor::of<float>({2}, {1, 0.5f}),
                                      Tensor::of<int8_t>({2}, {0, 0}),
                                      Tensor::scalar(1.f),
                                      Tensor::scalar<int8_t>(0),
                                      Tensor::of<int32_t>({2}, {1, 0})};
  EXPECT_THAT(run_one(make_node("QLinearConv", 9), inputs).to_i64(), ElementsAre(5, 9, -3, -6));
  std::vector<Tensor> lies = inputs;
  lies[8] = Tensor::of<int32_t>({3}, {1, 0, 0});
  EXPECT_THAT(refusal(make_node("QLinearConv", 9), lies), HasSubstr("do not fit"));
}

}  // namespace
}  // namespace clvet
