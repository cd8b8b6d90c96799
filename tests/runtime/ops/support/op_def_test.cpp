// What every op shares: checks of nodes and types, shapes that broadcast, fused activations,
// halves.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::i64s;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string checked(const Node& node) {
  const Status status = check_node(*node.def, node);
  return status ? "fits" : status.error().message;
}

TEST(CheckNode, CountsInputsAndOutputs) {
  EXPECT_EQ(checked(make_node("Add", 2)), "fits");
  EXPECT_EQ(checked(make_node("Add", 1)), "Add needs its input 1, which is missing");
  EXPECT_EQ(checked(make_node("Add", 3)), "Add takes at most 2 inputs, not 3");
  EXPECT_EQ(checked(make_node("Add", 2, {}, 13, 2)), "Add cannot have 2 outputs");
  EXPECT_EQ(checked(make_node("Add", 2, {}, 13, 0)), "Add cannot have 0 outputs");
  EXPECT_EQ(checked(make_node("Concat", 40)), "fits");
  Node node = make_node("Conv", 3);
  node.inputs[2] = kNoValue;
  EXPECT_EQ(checked(node), "fits");
  node.inputs[1] = kNoValue;
  EXPECT_EQ(checked(node), "Conv needs its input 1, which is missing");
}

TEST(CheckNode, RefusesAttributesByNameKindAndWord) {
  const auto with = [](const char* key, Attribute value) {
    return checked(make_node("Conv", 2, {{key, std::move(value)}}));
  };
  EXPECT_EQ(with("group", int64_t{2}), "fits");
  EXPECT_EQ(with("groups", int64_t{2}), "Conv takes no attribute 'groups' of the kind 'i'");
  EXPECT_EQ(with("group", std::vector<int64_t>{2}),
            "Conv takes no attribute 'group' of the kind 'I'");
  EXPECT_EQ(with("auto_pad", std::string("VALID")), "fits");
  EXPECT_EQ(with("auto_pad", std::string("valid")),
            "Conv's attribute auto_pad is 'valid', but must be one of "
            "NOTSET|SAME_UPPER|SAME_LOWER|VALID");
  EXPECT_EQ(with("auto_pad", int64_t{0}), "Conv takes no attribute 'auto_pad' of the kind 'i'");
  EXPECT_EQ(with("auto_pad", std::string()), "fits") << "some exporters write no word for NOTSET";
  EXPECT_THAT(checked(make_node("Pad", 1, {{"mode", std::string()}})), HasSubstr("''"));
}

TEST(CheckNode, SaysOnOneLineWhatHoldsSeveral) {
  const std::string odd = "a\nb\x01" + std::string(100000, 'c');
  for (const std::string& message : {checked(make_node("Conv", 2, {{odd, int64_t{1}}})),
                                     checked(make_node("Conv", 2, {{"auto_pad", odd}}))}) {
    EXPECT_THAT(message, ::testing::Not(HasSubstr("\n")));
    EXPECT_LT(message.size(), 1000u);
  }
}

TEST(CheckTypes, NamesTheInputThatDoesNotFit) {
  EXPECT_THAT(refusal(make_node("Gather", 2), {noise({2}), Tensor::of<uint8_t>({1}, {0})}),
              HasSubstr("Gather does not support the type u8 for its input 1"));
  EXPECT_THAT(refusal(make_node("Reshape", 2), {noise({2}), Tensor::of<int32_t>({1}, {2})}),
              HasSubstr("Reshape does not support the type i32 for its input 1"));
  EXPECT_THAT(refusal(make_node("Sigmoid", 1), {Tensor::scalar(true)}),
              HasSubstr("bool for its input 0"));
  EXPECT_THAT(refusal(make_node("Concat", 3), {noise({1}), noise({1}), i64s({1})}),
              HasSubstr("f32 and i64"));
}

TEST(RunNode, RefusesAnOpThatItDoesNotKnow) {
  Node node = make_node("Add", 2);
  node.op = "Adder";
  node.def = nullptr;
  const auto outputs = test::run_op(node, {noise({1}), noise({1})});
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().message, "clvet does not support the operator Adder");
  const Lowering lowering =
      lower_node(test::make_call(node, {noise({1})}, {false}), View::kChannelsLast);
  EXPECT_EQ(lowering.reason, "clvet does not support the operator Adder");
}

// y = act(x + 0) on each side of every bend; what MNN and ONNX call these functions.
TEST(RunNode, AppliesItsFusedActivation) {
  const double inf = std::numeric_limits<double>::infinity();
  const struct {
    Activation activation;
    std::vector<double> want;  // of -8, -1, 0, 2, 8
  } rows[] = {
      {{Act::kNone}, {-8, -1, 0, 2, 8}},
      {{Act::kRelu}, {0, 0, 0, 2, 8}},
      {{Act::kClip, -2, 3}, {-2, -1, 0, 2, 3}},
      {{Act::kAffine, 2, 1}, {-15, -1, 1, 5, 17}},
      {{Act::kHardSwish, 0.25, 0.5}, {0, -0.25, 0, 2, 8}},
      {{Act::kHardSigmoid, 0.25, 0.5}, {0, 0.25, 0.5, 1, 1}},
      {{Act::kLeakyRelu, 0.5}, {-4, -0.5, 0, 2, 8}},
      {{Act::kSigmoid},
       {1 / (1 + std::exp(8)), 1 / (1 + std::exp(1)), 0.5, 1 / (1 + std::exp(-2)),
        1 / (1 + std::exp(-8))}},
      {{Act::kTanh}, {std::tanh(-8), std::tanh(-1), 0, std::tanh(2), std::tanh(8)}},
      {{Act::kClip, -inf, 0}, {-8, -1, 0, 0, 0}},
  };
  const Tensor x = Tensor::of<float>({5}, {-8, -1, 0, 2, 8}), zero = Tensor::scalar(0.f);
  for (const auto& row : rows) {
    Node node = make_node("Add", 2);
    node.activation = row.activation;
    for (const DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
      const auto y =
          test::run_one(node, {x.cast(dtype).value(), zero.cast(dtype).value()}).to_f64();
      for (size_t i = 0; i < y.size(); ++i) {
        const double least = std::max(step_part(dtype), 1e-6);
        EXPECT_NEAR(y[i], row.want[i], least * std::max(1.0, std::abs(row.want[i])))
            << static_cast<int>(row.activation.act) << ' ' << to_string(dtype) << ' ' << i;
      }
    }
  }
}

TEST(RunNode, ReadsHalvesAndFloatsTogetherWhereAnOpTakesBoth) {
  const Tensor x = Tensor::of<float>({2}, {2, 3}).cast(DType::kF16).value();
  const Tensor y = test::run_one(make_node("Pow", 2), {x, Tensor::scalar(2.f)});
  EXPECT_EQ(to_string(y.type()), "f16[2]");
  EXPECT_THAT(y.to_f64(), ElementsAre(4, 9));
  EXPECT_THAT(refusal(make_node("Add", 2), {x, Tensor::scalar(2.f)}), HasSubstr("f16 and f32"));
}

// 1 + 2^-8 is no bfloat16, and a tie.
TEST(RunNode, ComputesWithFloatsAndRoundsTheResultsToBfloat16) {
  const auto bf16 = [](Shape shape, std::initializer_list<float> values) {
    return Tensor::of<float>(std::move(shape), values).cast(DType::kBF16).value();
  };
  const Tensor sums =
      test::run_one(make_node("Add", 2),
                    {bf16({4}, {1, 1, 100, 3e38f}), bf16({4}, {0x1p-8f, 0x1.8p-7f, 3, 3e38f})});
  EXPECT_EQ(to_string(sums.type()), "bf16[4]");
  EXPECT_THAT(sums.to_f64(), ElementsAre(1, 1 + 0x1p-6, 103, INFINITY));
  // 1 * 1 + 2^-8 * 1 + 2^-8 * 1: each step rounded would be 1.
  const Tensor product = test::run_one(
      make_node("MatMul", 2), {bf16({1, 3}, {1, 0x1p-8f, 0x1p-8f}), bf16({3, 1}, {1, 1, 1})});
  EXPECT_THAT(product.to_f64(), ElementsAre(1 + 0x1p-7));
  EXPECT_THAT(test::run_one(make_node("Relu", 1), {bf16({2}, {-1, 1e20f})}).to_f64(),
              ElementsAre(0, bf16({}, {1e20f}).to_f64()[0]));
  EXPECT_THAT(refusal(make_node("Add", 2),
                      {bf16({1}, {1}), Tensor::of<float>({1}, {1}).cast(DType::kF16).value()}),
              HasSubstr("bf16 and f16"));
}

TEST(InferNode, RefusesTensorsBeyondAll) {
  const Tensor long_row = Tensor::wrap(DType::kF32, {int64_t{1} << 39, 1}, nullptr);
  const Tensor column = Tensor::wrap(DType::kF32, {1, int64_t{1} << 39}, nullptr);
  EXPECT_THAT(test::inferred(make_node("Add", 2), {long_row, column}),
              HasSubstr("too many elements"));
  EXPECT_THAT(test::inferred(make_node("MatMul", 2), {long_row, column}),
              HasSubstr("too many elements"));
  const Tensor none = Tensor::wrap(DType::kF32, {0, INT64_MAX, INT64_MAX}, nullptr);
  EXPECT_THAT(test::inferred(make_node("Relu", 1), {none}), HasSubstr("too many elements"))
      << "its other extents are multiplied elsewhere";
}

TEST(NormalAxis, CountsFromBothEnds) {
  EXPECT_EQ(*normal_axis(-3, 3), 0);
  EXPECT_EQ(*normal_axis(2, 3), 2);
  for (const int64_t axis : {int64_t{3}, int64_t{-4}, INT64_MAX, INT64_MIN})
    EXPECT_FALSE(normal_axis(axis, 3));
  EXPECT_FALSE(normal_axis(0, 0));
  EXPECT_THAT(*normal_axes({2, -3, 1}, 3), ElementsAre(0, 1, 2));
  EXPECT_THAT(*normal_axes({}, 0), ElementsAre());
  EXPECT_FALSE(normal_axes({0, -3}, 3));
}

TEST(Broadcast, FollowsNumPy) {
  const struct {
    Shape a, b, want;
  } rows[] = {{{}, {}, {}},    {{}, {2, 3}, {2, 3}},  {{3}, {2, 1}, {2, 3}},
              {{1}, {0}, {0}}, {{0, 1}, {3}, {0, 3}}, {{5, 1, 4}, {3, 1}, {5, 3, 4}}};
  for (const auto& row : rows) {
    EXPECT_EQ(*broadcast(row.a, row.b), row.want);
    EXPECT_EQ(*broadcast(row.b, row.a), row.want);
  }
  EXPECT_FALSE(broadcast({0}, {2}));
  EXPECT_FALSE(broadcast({2, 3}, {3, 2}));
}

// As an affine activation, so that no constant is uploaded.
TEST(LowerBinary, FoldsASingleConstantIntoTheCall) {
  const struct {
    const char* op;
    bool left;
    double scale, shift;
  } rows[] = {{"Add", false, 1, 4}, {"Add", true, 1, 4}, {"Sub", false, 1, -4},
              {"Sub", true, -1, 4}, {"Mul", true, 4, 0}, {"Div", false, 0.25, 0}};
  const Tensor x = noise({2, 3}), four = Tensor::scalar(4.f);
  for (const auto& row : rows) {
    const std::vector<Tensor> inputs = row.left ? std::vector{four, x} : std::vector{x, four};
    const Lowering lowering = lower_node(
        test::make_call(make_node(row.op, 2), inputs, {row.left, !row.left}), View::kChannelsLast);
    ASSERT_EQ(lowering.calls.size(), 1u) << row.op;
    const LoweredCall& call = lowering.calls[0];
    EXPECT_EQ(call.op, "eltwise_unary");
    EXPECT_EQ(call.inputs[0].input, row.left ? 1 : 0);
    EXPECT_EQ(call.scalars.at("act_lo"), row.scale) << row.op;
    EXPECT_EQ(call.scalars.at("act_hi"), row.shift) << row.op;
  }
  // 4 / x is no affine map, nor is x / 0.
  EXPECT_EQ(lower_node(test::make_call(make_node("Div", 2), {four, x}, {true, false}),
                       View::kChannelsLast)
                .calls[0]
                .op,
            "eltwise_binary");
  EXPECT_EQ(test::lowered(make_node("Div", 2), {x, Tensor::scalar(0.f)}).calls[0].op,
            "eltwise_binary");
}

TEST(LowerNode, HasNothingToDoForWhatIsEmpty) {
  EXPECT_EQ(test::lowered(make_node("Relu", 1), {noise({0, 3})}).kind, LoweringKind::kNothing);
  EXPECT_EQ(test::lowered(make_node("Slice", 3), {noise({3}), i64s({2}), i64s({1})}).kind,
            LoweringKind::kNothing);
  EXPECT_NE(lower_node(test::make_call(make_node("CastLike", 2, {}, 15), {noise({3}), noise({0})},
                                       {false, false}),
                       View::kChannelsLast)
                .kind,
            LoweringKind::kHost)
      << "of the second one only the type counts";
}

TEST(LowerNode, LeavesWhatReadsNothingOrNoFloatToTheHost) {
  EXPECT_EQ(test::lowered(make_node("ReduceSum", 1), {noise({0, 3})}).reason,
            "a tensor has no elements");
  EXPECT_THAT(test::lowered(make_node("Relu", 1), {noise({3}).cast(DType::kF64).value()}).reason,
              HasSubstr("the tensor is not of a float type"));
  EXPECT_THAT(test::lowered(make_node("Sign", 1), {noise({3})}).reason, HasSubstr("Sign"));
  EXPECT_THAT(test::lowered(make_node("IsNaN", 1), {noise({3})}).reason, HasSubstr("IsNaN"));
  EXPECT_THAT(test::lowered(make_node("Add", 2), {noise({3}), noise({2})}).reason,
              HasSubstr("cannot be broadcast together"));
}

}  // namespace
}  // namespace clvet
