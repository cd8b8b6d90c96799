// Operators of com.microsoft worked out by hand, and what they refuse. tests/cli/
// random_microsoft_operators.py compares random ones with onnxruntime.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::floats;
using test::inferred;
using test::list;
using test::microsoft_node;
using test::noise;
using test::refusal;
using test::run_one;
using test::word;
using ::testing::ElementsAre;
using ::testing::FloatNear;
using ::testing::HasSubstr;

// 0.5 * (3 - 1) = 1 and 2 * 4 = 8: 9 and 8 in steps of 0.25 from 10; the second is above 255.
TEST(QLinearAddAndMul, WorkOnWhatTheIntegersStandFor) {
  const std::vector<Tensor> inputs = {Tensor::of<uint8_t>({1}, {3}), Tensor::scalar(0.5f),
                                      Tensor::scalar<uint8_t>(1),    Tensor::of<uint8_t>({1}, {4}),
                                      Tensor::of<float>({1}, {2}),   Tensor::scalar<uint8_t>(0),
                                      Tensor::scalar(0.25f),         Tensor::scalar<uint8_t>(10)};
  EXPECT_THAT(run_one(microsoft_node("QLinearAdd", 8), inputs).to_i64(), ElementsAre(46));
  EXPECT_THAT(run_one(microsoft_node("QLinearMul", 8), inputs).to_i64(), ElementsAre(42));
  std::vector<Tensor> other = inputs;
  other[3] = Tensor::of<int8_t>({1}, {4});
  EXPECT_THAT(refusal(microsoft_node("QLinearAdd", 8), other), HasSubstr("the type i8"));
  other = inputs;
  other[1] = Tensor::of<float>({2}, {1, 1});
  EXPECT_THAT(refusal(microsoft_node("QLinearAdd", 8), other), HasSubstr("cannot have the shape"));
  EXPECT_THAT(refusal(microsoft_node("QLinearAdd", 6), {inputs.begin(), inputs.begin() + 6}),
              HasSubstr("needs its input 6"));
}

TEST(QLinearConcat, BringsItsPartsToOneStep) {
  const std::vector<Tensor> inputs = {
      Tensor::scalar(0.5f), Tensor::scalar<int8_t>(1), Tensor::of<int8_t>({2}, {1, 2}),
      Tensor::scalar(1.f),  Tensor::scalar<int8_t>(0), Tensor::of<int8_t>({1}, {100}),
      Tensor::scalar(2.f),  Tensor::scalar<int8_t>(99)};
  const Node node = microsoft_node("QLinearConcat", 8, {{"axis", int64_t{0}}});
  EXPECT_THAT(run_one(node, inputs).to_i64(), ElementsAre(3, 5, 5));
  EXPECT_THAT(refusal(microsoft_node("QLinearConcat", 8), inputs), HasSubstr("attribute axis"));
  EXPECT_NE(refusal(microsoft_node("QLinearConcat", 4, {{"axis", int64_t{0}}}),
                    {inputs.begin(), inputs.begin() + 4}),
            "");
}

TEST(QLinearMaps, RefuseScalesOfChannelsAndResultsOfAnotherType) {
  const Tensor x = Tensor::of<uint8_t>({2}, {1, 2}), zero = Tensor::scalar<uint8_t>(0);
  const Tensor one = Tensor::scalar(1.f), two = Tensor::of<float>({2}, {1, 1});
  const Node node = microsoft_node("QLinearSigmoid", 5);
  EXPECT_THAT(refusal(node, {x, two, zero, one, zero}), HasSubstr("cannot have the shape [2]"));
  EXPECT_THAT(refusal(node, {x, one, zero, one, Tensor::scalar<int8_t>(0)}), HasSubstr("type i8"));
  EXPECT_THAT(refusal(microsoft_node("QLinearSoftmax", 5, {{"axis", int64_t{3}}}),
                      {x, one, zero, one, zero}),
              HasSubstr("axis"));
}

// (1 2) . (3 4) = 11, and 1 of the bias; 12 * 0.5 * 2 * 0.25 is 3, or 6 steps of a half and 5.
TEST(QGemm, IsAFloatWithoutAScaleForItsResult) {
  const Tensor zero = Tensor::scalar<uint8_t>(0);
  std::vector<Tensor> inputs = {Tensor::of<uint8_t>({1, 2}, {1, 2}), Tensor::scalar(0.5f), zero,
                                Tensor::of<uint8_t>({1, 2}, {3, 4}), Tensor::scalar(2.f),  zero,
                                Tensor::of<int32_t>({1}, {1})};
  const Attributes how = {{"transB", int64_t{1}}, {"alpha", 0.25}};
  EXPECT_THAT(floats(run_one(microsoft_node("QGemm", 7, how), inputs)), ElementsAre(3));
  inputs.push_back(Tensor::scalar(0.5f));
  EXPECT_THAT(refusal(microsoft_node("QGemm", 8, how), inputs), HasSubstr("needs its input 8"));
  inputs.push_back(Tensor::scalar<uint8_t>(5));
  EXPECT_THAT(run_one(microsoft_node("QGemm", 9, how), inputs).to_i64(), ElementsAre(11));
  inputs[6] = Tensor::of<int32_t>({3, 1}, {1, 1, 1});
  EXPECT_THAT(refusal(microsoft_node("QGemm", 9, how), inputs), HasSubstr("do not fit"));
}

TEST(MatMulIntegerToFloat, HasAScaleForEachColumn) {
  const Tensor a = Tensor::of<uint8_t>({1, 2}, {1, 2}),
               b = Tensor::of<int8_t>({2, 2}, {3, 1, 4, -1});
  const Node node = microsoft_node("MatMulIntegerToFloat", 4);
  EXPECT_THAT(floats(run_one(node, {a, b, Tensor::scalar(0.5f), Tensor::of<float>({2}, {2, 4})})),
              ElementsAre(11, -2));
  EXPECT_THAT(refusal(node, {a, b, Tensor::of<float>({2}, {1, 1}), Tensor::scalar(1.f)}),
              HasSubstr("cannot have the shape"));
  EXPECT_THAT(refusal(node, {a, b, Tensor::scalar(1.f), Tensor::of<float>({3}, {1, 1, 1})}),
              HasSubstr("do not fit"));
}

TEST(FusedMatMul, RefusesToTransposeABatchThatIsNotThere) {
  const Tensor a = Tensor::of<float>({2, 1}, {1, 2});
  EXPECT_THAT(
      floats(run_one(microsoft_node("FusedMatMul", 2, {{"transA", int64_t{1}}, {"alpha", 2.0}}),
                     {a, a})),
      ElementsAre(10));
  EXPECT_THAT(refusal(microsoft_node("FusedMatMul", 2, {{"transBatchA", int64_t{1}}}), {a, a}),
              HasSubstr("transBatchA"));
}

TEST(FusedGemmAndConv, RefuseActivationsThatTheyDoNotKnow) {
  const Tensor a = noise({2, 2}), x = noise({1, 1, 3, 3});
  EXPECT_THAT(refusal(microsoft_node("FusedGemm", 2, {{"activation", word("Nope")}}), {a, a}),
              HasSubstr("activation"));
  EXPECT_THAT(refusal(microsoft_node("FusedConv", 2, {{"activation", word("Clip")}}), {x, x}),
              HasSubstr("activation"));
  const Tensor sum = noise({1, 1, 2, 2}), bias = noise({1});
  EXPECT_THAT(refusal(microsoft_node("FusedConv", 4), {x, x, bias, sum}), HasSubstr("do not fit"));
}

// Rows (3 4) of the sum: its mean square is 12.5.
TEST(SkipSimplifiedLayerNormalization, GivesTheSumAsItsFourthOutput) {
  Node node = microsoft_node("SkipSimplifiedLayerNormalization", 3, {}, 4);
  const std::vector<Tensor> inputs = {Tensor::of<float>({1, 1, 2}, {1, 1}),
                                      Tensor::of<float>({1, 1, 2}, {2, 3}),
                                      Tensor::of<float>({2}, {1, 2})};
  EXPECT_THAT(refusal(node, inputs), HasSubstr("with its output 1 is not supported"));
  node.outputs[1] = node.outputs[2] = kNoValue;
  const auto outputs = test::run_op(node, inputs);
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_THAT(floats((*outputs)[0]),
              ElementsAre(FloatNear(0.848528f, 1e-5f), FloatNear(2.262742f, 1e-5f)));
  EXPECT_THAT(floats((*outputs)[3]), ElementsAre(3, 4));
  EXPECT_THAT(refusal(node, {inputs[0], noise({3, 1, 2}), inputs[2]}), HasSubstr("do not fit"));
}

TEST(EmbedLayerNormalization, TakesNoIndexFromTheEnd) {
  const Tensor table = Tensor::of<float>({2, 2}, {1, 2, 5, 3}),
               one = Tensor::of<float>({2}, {1, 1});
  Node node = microsoft_node("EmbedLayerNormalization", 7);
  node.inputs[1] = node.inputs[4] = kNoValue;
  const auto run = [&](const Tensor& ids) {
    const Tensor* inputs[] = {&ids, nullptr, &table, &table, nullptr, &one, &one};
    auto outputs = run_node(node, inputs);
    return outputs ? std::string() : outputs.error().message;
  };
  EXPECT_EQ(run(Tensor::of<int32_t>({1, 2}, {0, 1})), "");
  EXPECT_THAT(run(Tensor::of<int32_t>({1, 1}, {-1})), HasSubstr("out of range"));
  EXPECT_THAT(run(Tensor::of<int32_t>({1, 1}, {2})), HasSubstr("is outside"));
  EXPECT_THAT(run(Tensor::of<int32_t>({1, 3}, {0, 0, 0})), HasSubstr("do not fit"));
}

TEST(MicrosoftAttention, RefusesAPastAndMasksThatDoNotFit) {
  const Tensor x = noise({1, 2, 4}), past = noise({1, 2, 3, 2});
  const Node node = microsoft_node("MultiHeadAttention", 3, {{"num_heads", int64_t{2}}});
  EXPECT_EQ(inferred(node, {x, x, x}), "f32[1,2,4]");
  EXPECT_THAT(refusal(microsoft_node("MultiHeadAttention", 3), {x, x, x}), HasSubstr("num_heads"));
  Node cached = microsoft_node("MultiHeadAttention", 7, {{"num_heads", int64_t{2}}});
  EXPECT_THAT(refusal(cached, {x, x, x, noise({12}), Tensor::of<int32_t>({1, 2}, {1, 1}),
                               noise({1, 2, 2, 2}), past}),
              HasSubstr("with its input 6 is not supported"));
  Node masked = microsoft_node("MultiHeadAttention", 5, {{"num_heads", int64_t{2}}});
  EXPECT_THAT(refusal(masked, {x, x, x, noise({12}), Tensor::of<int32_t>({1, 3}, {1, 1, 1})}),
              HasSubstr("do not fit"));
  const Node one = microsoft_node(
      "Attention", 3, {{"num_heads", int64_t{2}}, {"qkv_hidden_sizes", list({4, 4, 8})}});
  EXPECT_EQ(inferred(one, {x, noise({4, 16}), noise({16})}), "f32[1,2,8]");
  EXPECT_THAT(refusal(one, {x, noise({4, 12}), noise({12})}), HasSubstr("qkv_hidden_sizes"));
}

TEST(MicrosoftGelu, RefusesABiasOfAnotherWidth) {
  EXPECT_THAT(refusal(microsoft_node("BiasGelu", 2), {noise({2, 3}), noise({2})}),
              HasSubstr("do not fit"));
  EXPECT_THAT(refusal(microsoft_node("BiasGelu", 1), {noise({2, 3})}),
              HasSubstr("needs its input 1"));
  EXPECT_NE(refusal(microsoft_node("QuickGelu", 2), {noise({2, 3}), noise({3})}), "");
}

}  // namespace
}  // namespace clvet
