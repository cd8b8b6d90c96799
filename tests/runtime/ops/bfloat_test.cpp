// Operators on bfloat16, worked out by hand.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::make_node;
using test::refusal;
using test::run_one;
using testing::ElementsAre;
using testing::HasSubstr;

Tensor bf16(Shape shape, std::initializer_list<float> values) {
  return Tensor::of<float>(std::move(shape), values).cast(DType::kBF16).value();
}

// The result, which is of bfloat16.
std::vector<double> values_of(const Node& node, const std::vector<Tensor>& inputs) {
  const Tensor y = run_one(node, inputs);
  EXPECT_EQ(y.dtype(), DType::kBF16);
  return y.to_f64();
}

const Attributes kPairs{{"kernel_shape", std::vector<int64_t>{2}}};

TEST(Bfloat16, IsPooledAsOtherFloats) {
  const Tensor x = bf16({1, 1, 4}, {1, 3, 2, -1});
  EXPECT_THAT(values_of(make_node("MaxPool", 1, kPairs), {x}), ElementsAre(3, 3, 2));
  EXPECT_THAT(values_of(make_node("AveragePool", 1, kPairs), {x}), ElementsAre(2, 2.5, 0.5));
  Attributes sums = kPairs;
  sums["p"] = int64_t{1};
  EXPECT_THAT(values_of(make_node("LpPool", 1, sums), {x}), ElementsAre(4, 5, 3));
}

TEST(Bfloat16, IsComparedOrderedAndCounted) {
  const Tensor x = bf16({4}, {2, 1, 2, -0.5f});
  EXPECT_THAT(values_of(make_node("Unique", 1), {x}), ElementsAre(-0.5, 1, 2));
  EXPECT_THAT(values_of(make_node("Range", 3), {bf16({}, {1}), bf16({}, {2}), bf16({}, {0.25f})}),
              ElementsAre(1, 1.25, 1.5, 1.75));
  EXPECT_THAT(run_one(make_node("Less", 2), {x, bf16({1}, {2})}).to_i64(), ElementsAre(0, 1, 0, 1));
  EXPECT_THAT(run_one(make_node("ArgMax", 1), {x}).to_i64(), ElementsAre(0));
}

// 0.1 is 0.10009765625; 3 times it lies between 0.298828125 and 0.30078125.
TEST(Bfloat16, IsQuantisedAndBack) {
  const Tensor levels =
      run_one(make_node("QuantizeLinear", 3),
              {bf16({4}, {0, 1, 3, 1000}), bf16({}, {2}), Tensor::scalar<uint8_t>(10)});
  EXPECT_THAT(levels.to_i64(), ElementsAre(10, 10, 12, 255));
  EXPECT_THAT(
      values_of(make_node("DequantizeLinear", 3), {Tensor::of<uint8_t>({3}, {10, 13, 255}),
                                                   bf16({}, {0.1f}), Tensor::scalar<uint8_t>(10)}),
      ElementsAre(0, 0.30078125, 24.5));
}

// 2^-8 twice: rounded after each it would be lost.
TEST(Bfloat16, IsAddedUpInFloat) {
  EXPECT_THAT(values_of(make_node("ScatterElements", 3, {{"reduction", std::string("add")}}, 18),
                        {bf16({3}, {1, 1, 1}), Tensor::of<int64_t>({2}, {0, 0}),
                         bf16({2}, {0x1p-8f, 0x1p-8f})}),
              ElementsAre(1 + 0x1p-7, 1, 1));
  EXPECT_THAT(
      values_of(make_node("Conv", 2), {bf16({1, 1, 3}, {256, 1, 1}), bf16({1, 1, 3}, {1, 1, 1})}),
      ElementsAre(258));
  EXPECT_THAT(values_of(make_node("ReduceSum", 1, {{"keepdims", int64_t{0}}}),
                        {bf16({4}, {3e38f, -3e38f, 256, 2})}),
              ElementsAre(258));
}

TEST(Bfloat16, IsNormalisedByRows) {
  EXPECT_THAT(values_of(make_node("LayerNormalization", 2, {{"epsilon", 0.0}}, 17),
                        {bf16({2, 2}, {1, 3, -4, 4}), bf16({2}, {1, 2})}),
              ElementsAre(-1, 2, -1, 2));
  EXPECT_THAT(values_of(make_node("Softmax", 1), {bf16({1, 4}, {5, 5, 5, 5})}),
              ElementsAre(0.25, 0.25, 0.25, 0.25));
}

// `saturate` is for the floats of 8 bits.
TEST(Bfloat16, IsCastToAndFrom) {
  const Tensor x = Tensor::of<float>({4}, {1 + 0x1p-8f, 3.4e38f, -2.5f, 0});
  for (const int64_t saturate : {0, 1}) {
    const Node node = make_node("Cast", 1, {{"to", int64_t{16}}, {"saturate", saturate}}, 19);
    EXPECT_THAT(values_of(node, {x}), ElementsAre(1, INFINITY, -2.5, 0));
  }
  EXPECT_THAT(values_of(make_node("CastLike", 2, {}, 15), {x, bf16({}, {1})}),
              ElementsAre(1, INFINITY, -2.5, 0));
  const Tensor y = bf16({3}, {-2.5f, 0, 300});
  EXPECT_THAT(run_one(make_node("Cast", 1, {{"to", int64_t{6}}}), {y}).to_i64(),
              ElementsAre(-2, 0, 300));
  EXPECT_THAT(run_one(make_node("Cast", 1, {{"to", int64_t{9}}}), {y}).to_i64(),
              ElementsAre(1, 0, 1));
}

TEST(Bfloat16, IsNoFloatOfAnotherType) {
  EXPECT_THAT(refusal(make_node("MatMul", 2), {bf16({1, 1}, {1}), Tensor::of<float>({1, 1}, {1})}),
              HasSubstr("bf16 and f32"));
  EXPECT_THAT(refusal(make_node("BitwiseAnd", 2, {}, 18), {bf16({1}, {1}), bf16({1}, {1})}),
              HasSubstr("bf16"));
}

TEST(Bfloat16, RunsOnTheDevice) {
  const Tensor x = bf16({1, 4}, {1, 2, 3, 4});
  const auto kind = [&](const Node& node, const std::vector<Tensor>& inputs) {
    return lower_node(test::make_call(node, inputs, std::vector<bool>(inputs.size(), false)),
                      View::kChannelsLast)
        .kind;
  };
  EXPECT_EQ(kind(make_node("Relu", 1), {x}), LoweringKind::kKernel);
  EXPECT_EQ(kind(make_node("Add", 2), {x, x}), LoweringKind::kKernel);
  EXPECT_EQ(kind(make_node("Softmax", 1), {x}), LoweringKind::kKernel);
  EXPECT_EQ(kind(make_node("Cast", 1, {{"to", int64_t{1}}}), {x}), LoweringKind::kAlias);
}

}  // namespace
}  // namespace clvet
