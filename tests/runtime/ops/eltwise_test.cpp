// Functions of one, two and several operands against the formulas of ONNX's text.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/shapes.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::Grid;
using test::i64s;
using test::Index;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();
const float kNan = std::nanf("");

struct Unary {
  const char* op;
  double (*of)(double x);
  Attributes attributes = {};
  const char* name = "";
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::log(std::exp(x) + 1); }

const Unary kUnary[] = {
    {"Relu", [](double x) { return std::max(0.0, x); }},
    {"Sigmoid", sigmoid},
    {"Tanh", [](double x) { return std::tanh(x); }},
    {"Exp", [](double x) { return std::exp(x); }},
    {"Log", [](double x) { return std::log(x); }},
    {"Sqrt", [](double x) { return std::sqrt(x); }},
    {"Reciprocal", [](double x) { return 1 / x; }},
    {"Floor", [](double x) { return std::floor(x); }},
    {"Ceil", [](double x) { return std::ceil(x); }},
    {"Erf", [](double x) { return std::erf(x); }},
    {"Sin", [](double x) { return std::sin(x); }},
    {"Cos", [](double x) { return std::cos(x); }},
    {"Tan", [](double x) { return std::tan(x); }},
    {"Asin", [](double x) { return std::asin(x); }},
    {"Acos", [](double x) { return std::acos(x); }},
    {"Atan", [](double x) { return std::atan(x); }},
    {"Sinh", [](double x) { return std::sinh(x); }},
    {"Cosh", [](double x) { return std::cosh(x); }},
    {"Asinh", [](double x) { return std::asinh(x); }},
    {"Acosh", [](double x) { return std::acosh(x); }},
    {"Atanh", [](double x) { return std::atanh(x); }},
    {"Softplus", softplus},
    {"Softsign", [](double x) { return x / (1 + std::abs(x)); }},
    {"Mish", [](double x) { return x * std::tanh(softplus(x)); }},
    {"Abs", [](double x) { return std::abs(x); }},
    {"Neg", [](double x) { return -x; }},
    {"HardSigmoid", [](double x) { return std::max(0.0, std::min(1.0, 0.2 * x + 0.5)); }},
    {"HardSigmoid",
     [](double x) { return std::max(0.0, std::min(1.0, 0.5 * x + 0.6)); },
     {{"alpha", 0.5}, {"beta", 0.6}},
     "OfOtherSlope"},
    {"HardSwish", [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }},
    {"LeakyRelu", [](double x) { return x < 0 ? 0.01 * x : x; }},
    {"LeakyRelu",
     [](double x) { return x < 0 ? -2 * x : x; },
     {{"alpha", -2.0}},
     "OfANegativeSlope"},
    {"Elu", [](double x) { return x < 0 ? std::exp(x) - 1 : x; }},
    {"Elu", [](double x) { return x < 0 ? 3 * (std::exp(x) - 1) : x; }, {{"alpha", 3.0}}, "Scaled"},
    {"Celu", [](double x) { return std::max(0.0, x) + std::min(0.0, std::exp(x) - 1); }},
    {"Celu",
     [](double x) { return std::max(0.0, x) + std::min(0.0, 2 * (std::exp(x / 2) - 1)); },
     {{"alpha", 2.0}},
     "Scaled"},
    // Defaults as the text has them: the nearest float32.
    {"Selu",
     [](double x) {
       return 1.05070102214813232421875 *
              (x > 0 ? x : 1.67326319217681884765625 * (std::exp(x) - 1));
     }},
    {"Selu",
     [](double x) { return 3 * (x > 0 ? x : 2 * std::exp(x) - 2); },
     {{"alpha", 2.0}, {"gamma", 3.0}},
     "Scaled"},
    {"ThresholdedRelu", [](double x) { return x > 1 ? x : 0; }},
    {"ThresholdedRelu", [](double x) { return x > -1 ? x : 0; }, {{"alpha", -1.0}}, "BelowZero"},
    {"Shrink", [](double x) { return x < -0.5 || x > 0.5 ? x : 0; }},
    {"Shrink",
     [](double x) { return x < -1.5  ? x + 1
                           : x > 1.5 ? x - 1
                                     : 0; },
     {{"lambd", 1.5}, {"bias", 1.0}},
     "Soft"},
    {"Swish", [](double x) { return x * sigmoid(x); }},
    {"Swish", [](double x) { return x * sigmoid(2 * x); }, {{"alpha", 2.0}}, "Steep"},
    {"Gelu", [](double x) { return x / 2 * (1 + std::erf(x / std::numbers::sqrt2)); }},
    {"Gelu",
     [](double x) {
       return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
     },
     {{"approximate", std::string("tanh")}},
     "ByTanh"},
};

class UnaryOps : public ::testing::TestWithParam<Unary> {
 protected:
  static Node node() { return make_node(GetParam().op, 1, GetParam().attributes, 24); }
};

const std::vector<float> kPlaces = {-8.5f, -2.5f, -1.5f, -1,    -0.75f, -0.5f, -0.25f, -1e-4f, 0,
                                    1e-4f, 0.25f, 0.5f,  0.75f, 1,      1.5f,  2.5f,   8.5f};

// A few units in the last place of float32 where the function is not steep.
TEST_P(UnaryOps, EqualTheFormula) {
  const Tensor x = Tensor::from<float>({17}, kPlaces);
  const Grid want({17}, [](const Index& at) {
    return GetParam().of(static_cast<double>(kPlaces[static_cast<size_t>(at[0])]));
  });
  test::at_each_width([&] { test::expect_grid(test::run_one(node(), {x}), want, 2e-6); });
  test::expect_grid(test::run_one(node(), {x.cast(DType::kF64).value()}), want, 1e-9);
}

TEST_P(UnaryOps, HideNoNanExceptBehindAThreshold) {
  const std::string op = GetParam().op;
  if (op == "ThresholdedRelu" || op == "Shrink") return;  // "otherwise 0", says the text
  EXPECT_TRUE(std::isnan(test::floats(test::run_one(node(), {Tensor::scalar(kNan)}))[0]));
}

TEST_P(UnaryOps, TakeAnEmptyTensorAndAHalf) {
  EXPECT_EQ(test::run_one(node(), {noise({0, 2})}).shape(), (Shape{0, 2}));
  const Tensor half = Tensor::of<float>({1}, {0.5f}).cast(DType::kF16).value();
  const Tensor y = test::run_one(node(), {half});
  EXPECT_EQ(y.dtype(), DType::kF16);
  if (const double want = GetParam().of(0.5); !std::isnan(want)) {
    EXPECT_NEAR(y.to_f64()[0], want, 1e-3);
  }
}

INSTANTIATE_TEST_SUITE_P(All, UnaryOps, ::testing::ValuesIn(kUnary), [](const auto& info) {
  return std::string(info.param.op) + info.param.name;
});

std::vector<float> unary(const char* op, std::vector<float> x) {
  const Tensor tensor = Tensor::from<float>({static_cast<int64_t>(x.size())}, x);
  return test::floats(test::run_one(make_node(op, 1), {tensor}));
}

TEST(Round, TakesHalvesToEven) {
  EXPECT_EQ(unary("Round", {-2.5f, -1.5f, -0.5f, 0.5f, 1.5f, 2.5f, 0.49999997f, kInf}),
            (std::vector<float>{-2, -2, -0.f, 0, 2, 2, 0, kInf}));
}

TEST(Unary, SurvivesTheEndsOfItsRange) {
  EXPECT_EQ(unary("Sigmoid", {-1000, 1000, -kInf, kInf}), (std::vector<float>{0, 1, 0, 1}));
  EXPECT_EQ(unary("Softplus", {-1000, 1000, 88.f}), (std::vector<float>{0, 1000, 88}));
  EXPECT_EQ(unary("Celu", {1000, -1000}), (std::vector<float>{1000, -1}));
  EXPECT_EQ(unary("Elu", {1000, -kInf}), (std::vector<float>{1000, -1}));
  EXPECT_EQ(unary("Reciprocal", {0.f, -0.f, kInf}), (std::vector<float>{kInf, -kInf, 0}));
  EXPECT_EQ(unary("Mish", {1000, -1000}), (std::vector<float>{1000, 0}));
  EXPECT_EQ(unary("Gelu", {1000, -1000}), (std::vector<float>{1000, 0}));
}

// The reciprocal tells the zeros apart.
TEST(SignedZeros, AreKept) {
  const auto inverted = [](const char* op, float zero) {
    return unary("Reciprocal", unary(op, {zero}))[0];
  };
  EXPECT_EQ(inverted("Neg", 0.f), -kInf);
  EXPECT_EQ(inverted("Neg", -0.f), kInf);
  EXPECT_EQ(inverted("Abs", -0.f), kInf);
  EXPECT_EQ(inverted("Sqrt", -0.f), -kInf);
  EXPECT_EQ(inverted("Ceil", -0.5f), -kInf);
}

TEST(Sign, KnowsThreeAnswers) {
  EXPECT_EQ(unary("Sign", {-kInf, -1e-40f, -0.f, 0, 1e-40f, 7}),
            (std::vector<float>{-1, -1, 0, 0, 1, 1}));
  EXPECT_EQ(test::run_one(make_node("Sign", 1), {i64s({INT64_MIN, 0, INT64_MAX})}).to_i64(),
            (std::vector<int64_t>{-1, 0, 1}));
  const Tensor bytes = Tensor::of<uint8_t>({2}, {0, 255});
  EXPECT_EQ(test::run_one(make_node("Sign", 1), {bytes}).to_i64(), (std::vector<int64_t>{0, 1}));
}

TEST(IntegerUnary, WrapsAtTheLowest) {
  EXPECT_EQ(test::run_one(make_node("Abs", 1), {i64s({INT64_MIN, -5, 5})}).to_i64(),
            (std::vector<int64_t>{INT64_MIN, 5, 5}));
  EXPECT_EQ(test::run_one(make_node("Neg", 1), {i64s({INT64_MIN, INT64_MAX})}).to_i64(),
            (std::vector<int64_t>{INT64_MIN, -INT64_MAX}));
  EXPECT_THAT(refusal(make_node("Relu", 1), {i64s({1})}),
              HasSubstr("does not support the type i64"));
}

TEST(Unary, RefusesAnAttributeOfAnotherKindAndAWordItDoesNotKnow) {
  EXPECT_THAT(refusal(make_node("Elu", 1, {{"alpha", int64_t{1}}}), {noise({1})}),
              HasSubstr("alpha"));
  EXPECT_THAT(
      refusal(make_node("Gelu", 1, {{"approximate", std::string("erf")}}, 20), {noise({1})}),
      HasSubstr("approximate"));
}

std::vector<double> binary(const char* op, const Tensor& a, const Tensor& b) {
  return test::run_one(make_node(op, 2), {a, b}).to_f64();
}

// One rounding of float32 each: the same sums in double, rounded, must be met exactly.
TEST(Binary, EqualsTheFormulaOverEveryBroadcast) {
  const struct {
    const char* op;
    double (*of)(double, double);
  } rows[] = {
      {"Add", [](double a, double b) { return a + b; }},
      {"Sub", [](double a, double b) { return a - b; }},
      {"Mul", [](double a, double b) { return a * b; }},
      {"Div", [](double a, double b) { return a / b; }},
      {"Max", [](double a, double b) { return std::max(a, b); }},
      {"Min", [](double a, double b) { return std::min(a, b); }},
      {"Sum", [](double a, double b) { return a + b; }},
      {"Mean", [](double a, double b) { return (a + b) / 2; }},
  };
  const Shape shapes[][3] = {{{2, 3}, {2, 3}, {2, 3}},
                             {{2, 3}, {3}, {2, 3}},
                             {{2, 1}, {1, 3}, {2, 3}},
                             {{}, {2, 2}, {2, 2}},
                             {{4, 1, 3}, {2, 1}, {4, 2, 3}},
                             {{1, 1, 1}, {2}, {1, 1, 2}},
                             {{0, 3}, {1, 3}, {0, 3}},
                             {{1}, {0}, {0}},
                             {{}, {}, {}}};
  for (const auto& row : rows) {
    for (const auto& [left, right, out] : shapes) {
      const Tensor a = noise(left, 3), b = noise(right, 4);
      const Grid x(a), z(b);
      SCOPED_TRACE(row.op + to_string(left) + to_string(right));
      const Grid want(out, [&](const Index& at) { return row.of(x.spread(at), z.spread(at)); });
      test::at_each_width([&] {
        test::expect_grid(test::run_one(make_node(row.op, 2), {a, b}), want, 1e-7);
      });
    }
  }
}

// So many elements that several threads take parts, also of rows.
TEST(Binary, ComputesEachElementOnceInParts) {
  const struct {
    Shape a, b, out;
  } rows[] = {{{40, 1, 70, 31}, {3, 1, 31}, {40, 3, 70, 31}},
              {{7, 200, 100}, {7, 200, 100}, {7, 200, 100}},
              {{7, 1, 1}, {300, 100}, {7, 300, 100}},
              {{2, 100, 1000}, {1}, {2, 100, 1000}}};
  for (const auto& row : rows) {
    SCOPED_TRACE(to_string(row.a) + to_string(row.b));
    const Tensor a = noise(row.a, 3), b = noise(row.b, 4);
    const std::vector<float> y = test::floats(test::run_one(make_node("Sub", 2), {a, b}));
    const std::vector<int64_t> left = broadcast_strides(row.a, row.out),
                               right = broadcast_strides(row.b, row.out);
    size_t i = 0, wrong = 0;
    for_each_row<2>(row.out, {left, right}, [&](const int64_t(&at)[2]) {
      for (int64_t k = 0; k < row.out.back(); ++k, ++i)
        wrong += y[i] != a.data<float>()[at[0] + k * left.back()] -
                             b.data<float>()[at[1] + k * right.back()];
    });
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(i, y.size());
  }
}

TEST(Binary, DividesByZeroAsFloatsDo) {
  const Tensor a = Tensor::of<float>({3}, {1, -1, 0}), zero = Tensor::scalar(0.f);
  const auto y = binary("Div", a, zero);
  EXPECT_EQ(y[0], kInf);
  EXPECT_EQ(y[1], -kInf);
  EXPECT_TRUE(std::isnan(y[2]));
}

TEST(Binary, TruncatesIntegerQuotients) {
  EXPECT_EQ(binary("Div", i64s({7, -7, 7, -7}), i64s({2, 2, -2, -2})),
            (std::vector<double>{3, -3, -3, 3}));
  const Tensor big = Tensor::of<uint64_t>({1}, {UINT64_MAX});
  EXPECT_EQ(
      test::run_one(make_node("Div", 2), {big, Tensor::of<uint64_t>({1}, {2})}).data<uint64_t>()[0],
      UINT64_MAX / 2);
}

TEST(MaxAndMin, PassANanFromEitherSide) {
  const Tensor nan = Tensor::scalar(kNan), one = Tensor::scalar(1.f);
  for (const char* op : {"Max", "Min"}) {
    EXPECT_TRUE(std::isnan(binary(op, nan, one)[0])) << op;
    EXPECT_TRUE(std::isnan(binary(op, one, nan)[0])) << op;
    EXPECT_TRUE(std::isnan(test::run_one(make_node(op, 3), {nan, one, one}).to_f64()[0])) << op;
  }
}

TEST(Variadic, TakesOneOperandOrManyThatBroadcastTogether) {
  const Tensor row = Tensor::of<float>({3}, {1, 5, 3}), column = Tensor::of<float>({2, 1}, {2, 4});
  const Tensor three = Tensor::scalar(3.f);
  const auto run = [&](const char* op) {
    return test::floats(test::run_one(make_node(op, 3), {row, three, column}));
  };
  EXPECT_EQ(run("Max"), (std::vector<float>{3, 5, 3, 4, 5, 4}));
  EXPECT_EQ(run("Min"), (std::vector<float>{1, 2, 2, 1, 3, 3}));
  EXPECT_EQ(run("Sum"), (std::vector<float>{6, 10, 8, 8, 12, 10}));
  EXPECT_EQ(run("Mean"), (std::vector<float>{2, 10 / 3.f, 8 / 3.f, 8 / 3.f, 4, 10 / 3.f}));
  for (const char* op : {"Max", "Min", "Sum", "Mean"}) {
    EXPECT_EQ(test::floats(test::run_one(make_node(op, 1), {row})), (std::vector<float>{1, 5, 3}));
    EXPECT_THAT(refusal(make_node(op, 0), {}), HasSubstr("needs its input 0"));
    EXPECT_THAT(refusal(make_node(op, 2), {row, noise({2})}),
                HasSubstr("cannot be broadcast together"));
    EXPECT_THAT(refusal(make_node(op, 2), {row, i64s({1})}), HasSubstr("f32 and i64"));
  }
}

// 256 operands are 0 as a byte: an average over that many must not divide by it.
TEST(Mean, IsOfFloatsAlone) {
  const std::vector<Tensor> bytes(256, Tensor::of<uint8_t>({1}, {1}));
  EXPECT_THAT(refusal(make_node("Mean", 256), bytes), HasSubstr("Mean"));
}

TEST(PRelu, ScalesNegativesByASlopeThatFitsTheInput) {
  const Tensor x = Tensor::of<float>({2, 2}, {-1, 2, -3, -4}),
               slope = Tensor::of<float>({2}, {10, 0.5f});
  EXPECT_EQ(binary("PRelu", x, slope), (std::vector<double>{-10, 2, -30, -2}));
  EXPECT_THAT(refusal(make_node("PRelu", 2), {slope, x}),
              HasSubstr("slope [2,2] does not fit its input [2]"));
  EXPECT_EQ(binary("PRelu", i64s({-3, 3}), i64s({2, 2})), (std::vector<double>{-6, 3}));
}

TEST(Clip, TakesBoundsAsInputsAttributesOrNotAtAll) {
  const Tensor x = Tensor::of<float>({4}, {-5, -1, 1, 5});
  const Tensor low = Tensor::scalar(-2.f), high = Tensor::scalar(2.f);
  EXPECT_EQ(test::floats(test::run_one(make_node("Clip", 3), {x, low, high})),
            (std::vector<float>{-2, -1, 1, 2}));
  EXPECT_EQ(test::floats(test::run_one(make_node("Clip", 2), {x, low})),
            (std::vector<float>{-2, -1, 1, 5}));
  EXPECT_EQ(test::floats(test::run_one(make_node("Clip", 1), {x})),
            (std::vector<float>{-5, -1, 1, 5}));
  const Node old = make_node("Clip", 1, {{"min", 0.0}, {"max", 3.0}}, 6);
  EXPECT_EQ(test::floats(test::run_one(old, {x})), (std::vector<float>{0, 0, 1, 3}));
  // min above max: all become max.
  EXPECT_EQ(test::floats(test::run_one(make_node("Clip", 3), {x, high, low})),
            (std::vector<float>{-2, -2, -2, -2}));
  EXPECT_TRUE(std::isnan(
      test::floats(test::run_one(make_node("Clip", 3), {Tensor::scalar(kNan), low, high}))[0]));
}

TEST(Clip, WorksOnIntegersToTheirEnds) {
  const Tensor x = i64s({INT64_MIN, 0, INT64_MAX});
  EXPECT_EQ(test::run_one(make_node("Clip", 2), {x, Tensor::scalar<int64_t>(-1)}).to_i64(),
            (std::vector<int64_t>{-1, 0, INT64_MAX}));
  const Tensor bytes = Tensor::of<uint8_t>({3}, {0, 7, 255});
  EXPECT_EQ(test::run_one(make_node("Clip", 3),
                          {bytes, Tensor::scalar<uint8_t>(5), Tensor::scalar<uint8_t>(9)})
                .to_i64(),
            (std::vector<int64_t>{5, 7, 9}));
}

TEST(Clip, RefusesBoundsOfSeveralValuesOrAnotherType) {
  EXPECT_THAT(refusal(make_node("Clip", 2), {noise({3}), noise({3})}),
              HasSubstr("bound must be a single number, not [3]"));
  EXPECT_THAT(refusal(make_node("Clip", 2), {noise({3}), i64s({3})}), HasSubstr("f32 and i64"));
}

}  // namespace
}  // namespace clvet
