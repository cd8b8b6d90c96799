// NaN and infinities among the inputs of host ops.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

using test::list;
using test::make_node;
using test::run_one;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// Of three values, [1,1,3], to one or more.
struct Extreme {
  std::string op;
  Attributes attributes;
};

void PrintTo(const Extreme& extreme, std::ostream* out) { *out << extreme.op; }

class AnExtreme : public ::testing::TestWithParam<Extreme> {};

TEST_P(AnExtreme, IsNanWhereverANanStands) {
  const auto& [op, attributes] = GetParam();
  for (size_t at = 0; at < 3; ++at) {
    std::vector<float> values = {1, -2, 3};
    values[at] = kNan;
    for (const DType type : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16}) {
      const Tensor x = Tensor::from<float>({1, 1, 3}, values).cast(type).value();
      const Tensor y = run_one(make_node(op, 1, attributes, 13), {x});
      EXPECT_TRUE(std::isnan(y.to_f64()[0])) << at << to_string(type);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, AnExtreme,
                         ::testing::Values(Extreme{"MaxPool", {{"kernel_shape", list({3})}}},
                                           Extreme{"GlobalMaxPool", {}}, Extreme{"ReduceMax", {}},
                                           Extreme{"ReduceMin", {}}, Extreme{"ReduceLogSumExp", {}},
                                           Extreme{"Softmax", {}}, Extreme{"LogSoftmax", {}}),
                         [](const auto& info) { return info.param.op; });

TEST(AnExtremeOfTwo, IsNanWhicheverIsNan) {
  for (const char* op : {"Max", "Min"}) {
    const Tensor y = run_one(make_node(op, 2), {Tensor::of<float>({3}, {kNan, 1, 2}),
                                                Tensor::of<float>({3}, {1, kNan, 3})});
    EXPECT_TRUE(std::isnan(y.to_f64()[0]) && std::isnan(y.to_f64()[1])) << op;
    EXPECT_EQ(y.to_f64()[2], std::string(op) == "Max" ? 3 : 2);
  }
}

TEST(MaxPool, GivesTheIndexOfTheFirstNan) {
  const auto node = make_node("MaxPool", 1, {{"kernel_shape", list({4})}}, 13, 2);
  const auto outputs =
      test::run_op(node, {Tensor::of<float>({1, 1, 4}, {1, kNan, 7, kNan})}).value();
  EXPECT_EQ(outputs[1].to_i64(), (std::vector<int64_t>{1}));
}

class FloatFunction : public ::testing::TestWithParam<const char*> {};

TEST_P(FloatFunction, KeepsNan) {
  const Tensor y = run_one(make_node(GetParam(), 1, {}, 22), {Tensor::of<float>({1}, {kNan})});
  EXPECT_TRUE(std::isnan(y.to_f64()[0]));
}

INSTANTIATE_TEST_SUITE_P(All, FloatFunction,
                         ::testing::Values("Relu", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu",
                                           "Celu", "Selu", "Sigmoid", "Softplus", "Softsign",
                                           "Mish", "Tanh", "Clip", "Abs", "Neg", "Sign", "Gelu",
                                           "Exp", "Sqrt"),
                         [](const auto& info) { return info.param; });

TEST(DynamicQuantizeLinear, TakesNanForZero) {
  const auto outputs = test::run_op(make_node("DynamicQuantizeLinear", 1, {}, 13, 3),
                                    {Tensor::of<float>({3}, {kNan, -1, 1})});
  ASSERT_TRUE(outputs);
  EXPECT_EQ((*outputs)[0].to_i64()[0], 0);
}

}  // namespace
}  // namespace clvet
