// The Reduce family against loops in float64.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/ops/plain.h"

namespace clvet {
namespace {

using test::Grid;
using test::i64s;
using test::Index;
using test::list;
using test::make_node;
using test::noise;
using test::refusal;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double kInf = std::numeric_limits<double>::infinity();

// What ONNX's text says of one group of values.
struct Kind {
  const char* op;
  double (*of)(const std::vector<double>& values);
  double of_nothing;
};

template <class Fn>
double sum_of(const std::vector<double>& values, Fn&& fn) {
  double sum = 0;
  for (const double v : values) sum += fn(v);
  return sum;
}
double plain_sum(const std::vector<double>& v) {
  return sum_of(v, [](double x) { return x; });
}
double squares(const std::vector<double>& v) {
  return sum_of(v, [](double x) { return x * x; });
}

const Kind kKinds[] = {
    {"ReduceSum", plain_sum, 0},
    {"ReduceMean",
     [](const std::vector<double>& v) { return plain_sum(v) / static_cast<double>(v.size()); },
     NAN},
    {"ReduceMax",
     [](const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }, -kInf},
    {"ReduceMin",
     [](const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }, kInf},
    {"ReduceProd",
     [](const std::vector<double>& v) {
       double product = 1;
       for (const double x : v) product *= x;
       return product;
     },
     1},
    {"ReduceL1",
     [](const std::vector<double>& v) { return sum_of(v, [](double x) { return std::abs(x); }); },
     0},
    {"ReduceL2", [](const std::vector<double>& v) { return std::sqrt(squares(v)); }, 0},
    {"ReduceLogSum", [](const std::vector<double>& v) { return std::log(plain_sum(v)); }, -kInf},
    {"ReduceLogSumExp",
     [](const std::vector<double>& v) {
       return std::log(sum_of(v, [](double x) { return std::exp(x); }));
     },
     -kInf},
    {"ReduceSumSquare", squares, 0},
};

class Reduces : public ::testing::TestWithParam<Kind> {};

// Positive values, so that a logarithm is of a positive sum; sums in double, rounded once.
TEST_P(Reduces, EqualTheFormulaOverAnyAxes) {
  Tensor x = noise({3, 2, 4, 5}, 21);
  for (int64_t i = 0; i < x.elements(); ++i) x.data<float>()[i] += 1.5f;
  const Grid grid(x);
  for (const std::vector<int64_t>& axes : std::vector<std::vector<int64_t>>{
           {0}, {1}, {3}, {-2}, {0, 2}, {-1, 1}, {1, 2, 3}, {0, 1, 2, 3}}) {
    Shape kept = x.shape(), dropped, taken(4, 1);
    for (const int64_t axis : axes) {
      const auto at = static_cast<size_t>(axis < 0 ? axis + 4 : axis);
      taken[at] = std::exchange(kept[at], 1);
    }
    for (size_t i = 0; i < 4; ++i) {
      if (taken[i] == 1) dropped.push_back(kept[i]);
    }
    const Grid want(kept, [&](const Index& at) {
      std::vector<double> values;
      test::each_index(taken, [&](const Index& inner) {
        Index from = at;
        for (size_t i = 0; i < 4; ++i) from[i] += inner[i];
        values.push_back(grid.at(from));
      });
      return GetParam().of(values);
    });
    SCOPED_TRACE(::testing::PrintToString(axes));
    const Tensor y = test::run_one(make_node(GetParam().op, 2), {x, i64s(axes)});
    test::expect_grid(y, want, 1e-7);
    const Node flat = make_node(GetParam().op, 1, {{"axes", axes}, {"keepdims", int64_t{0}}}, 11);
    const Tensor z = test::run_one(flat, {x});
    EXPECT_EQ(z.shape(), dropped);
    test::expect_near(z.reshaped(kept), y, 0);
  }
}

TEST_P(Reduces, ToTheNeutralValueOfAnEmptyAxis) {
  const Tensor y = test::run_one(make_node(GetParam().op, 2), {noise({2, 0}), i64s({1})});
  test::expect_grid(y, Grid({2, 1}, [](const Index&) { return GetParam().of_nothing; }), 0);
}

TEST_P(Reduces, PassANanOn) {
  const float nan = std::nanf("");
  for (const Tensor& x : {Tensor::of<float>({3}, {nan, 1, 2}), Tensor::of<float>({3}, {1, nan, 2}),
                          Tensor::of<float>({3}, {2, 1, nan})}) {
    EXPECT_TRUE(std::isnan(test::run_one(make_node(GetParam().op, 1), {x}).to_f64()[0]));
  }
}

TEST_P(Reduces, EverythingOrNothingWithoutAxes) {
  const Tensor x = noise({2, 3});
  const auto shape = [&](Attributes attributes) {
    return test::run_one(make_node(GetParam().op, 1, std::move(attributes)), {x}).shape();
  };
  EXPECT_EQ(shape({}), (Shape{1, 1}));
  EXPECT_EQ(shape({{"keepdims", int64_t{0}}}), Shape{});
  const Node same = make_node(GetParam().op, 2, {{"noop_with_empty_axes", int64_t{1}}}, 18);
  test::expect_near(test::run_one(same, {x, i64s({})}), x, 0);
}

TEST_P(Reduces, RefuseAxesThatAreNotThereOrThereTwice) {
  const auto why = [](const std::vector<int64_t>& axes) {
    return refusal(make_node(GetParam().op, 2), {noise({2, 3}), i64s(axes)});
  };
  EXPECT_THAT(why({2}), HasSubstr("axis 2 does not exist in a tensor of rank 2"));
  EXPECT_THAT(why({-3}), HasSubstr("axis -3"));
  EXPECT_THAT(why({INT64_MIN}), HasSubstr("axis -9223372036854775808"));
  EXPECT_THAT(why({1, -1}), HasSubstr("twice"));
}

INSTANTIATE_TEST_SUITE_P(All, Reduces, ::testing::ValuesIn(kKinds),
                         [](const auto& info) { return std::string(info.param.op); });

std::vector<int64_t> of_i64(const char* op, const std::vector<int64_t>& values) {
  return test::run_one(make_node(op, 1), {i64s(values)}).to_i64();
}

TEST(Reduce, IsExactOnIntegersThatNoDoubleHolds) {
  const int64_t odd = (int64_t{1} << 53) + 1;
  EXPECT_EQ(of_i64("ReduceSum", {odd, 2}), (std::vector<int64_t>{odd + 2}));
  EXPECT_EQ(of_i64("ReduceMax", {odd, odd - 1}), (std::vector<int64_t>{odd}));
  EXPECT_EQ(of_i64("ReduceMin", {-odd, 1 - odd}), (std::vector<int64_t>{-odd}));
  EXPECT_EQ(of_i64("ReduceProd", {odd, -3}), (std::vector<int64_t>{-3 * odd}));
  EXPECT_EQ(of_i64("ReduceL1", {odd, -odd}), (std::vector<int64_t>{2 * odd}));
  EXPECT_EQ(of_i64("ReduceSumSquare", {3037000499, 0}),
            (std::vector<int64_t>{9223372030926249001}));
  const Tensor high = Tensor::of<uint64_t>({2}, {UINT64_MAX, UINT64_MAX - 1});
  const Tensor y = test::run_one(make_node("ReduceMin", 1), {high});
  EXPECT_EQ(y.data<uint64_t>()[0], UINT64_MAX - 1);
}

TEST(Reduce, KeepsTheExtremesOfInt64) {
  EXPECT_EQ(of_i64("ReduceMax", {INT64_MIN, INT64_MIN}), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(of_i64("ReduceMin", {INT64_MAX}), (std::vector<int64_t>{INT64_MAX}));
  EXPECT_EQ(of_i64("ReduceMax", {}), (std::vector<int64_t>{INT64_MIN}));
  EXPECT_EQ(of_i64("ReduceMin", {}), (std::vector<int64_t>{INT64_MAX}));
}

TEST(Reduce, TruncatesTheMeanOfIntegers) {
  EXPECT_EQ(of_i64("ReduceMean", {-3, -4}), (std::vector<int64_t>{-3}));
  EXPECT_EQ(of_i64("ReduceL2", {3, 4}), (std::vector<int64_t>{5}));
}

TEST(Reduce, OfTruthValuesIsAnyOrAll) {
  const Tensor x = Tensor::of<bool>({2, 2}, {true, false, true, true});
  const auto run = [&](const char* op) {
    return test::run_one(make_node(op, 2, {}, 20), {x, i64s({1})}).to_i64();
  };
  EXPECT_EQ(run("ReduceMax"), (std::vector<int64_t>{1, 1}));
  EXPECT_EQ(run("ReduceMin"), (std::vector<int64_t>{0, 1}));
}

// log(sum of exp) of values whose exponentials no double holds: the largest plus a logarithm.
TEST(ReduceLogSumExp, SurvivesLargeAndSmallValues) {
  const auto run = [](std::vector<float> values) {
    const auto count = static_cast<int64_t>(values.size());
    const Tensor x = Tensor::from<float>({count}, values);
    return test::run_one(make_node("ReduceLogSumExp", 1), {x}).to_f64()[0];
  };
  EXPECT_NEAR(run({1000, 1000}), 1000 + std::log(2), 1e-4);
  EXPECT_NEAR(run({-1000, -1000, -1000}), -1000 + std::log(3), 1e-4);
  EXPECT_EQ(run({static_cast<float>(kInf), 1}), kInf);
  EXPECT_EQ(run({static_cast<float>(-kInf), static_cast<float>(-kInf)}), -kInf);
}

TEST(Reduce, OfAScalarIsThatScalar) {
  const Tensor x = Tensor::scalar(-2.f);
  EXPECT_EQ(test::floats(test::run_one(make_node("ReduceSum", 1), {x})), (std::vector<float>{-2}));
  EXPECT_EQ(test::floats(test::run_one(make_node("ReduceSumSquare", 1), {x})),
            (std::vector<float>{4}));
  EXPECT_EQ(test::run_one(make_node("ReduceMax", 1), {x}).shape(), Shape{});
}

TEST(Reduce, OfAnEmptyTensorMayBeEmpty) {
  const Tensor y = test::run_one(make_node("ReduceSum", 2), {noise({0, 3}), i64s({1})});
  EXPECT_EQ(y.shape(), (Shape{0, 1}));
  EXPECT_THAT(test::floats(y), IsEmpty());
}

TEST(Reduce, LowersPlanesToAPoolAndOneAxisToRows) {
  const auto op_of = [](const char* op, std::vector<int64_t> axes) {
    const Lowering lowering =
        test::lowered(make_node(op, 1, {{"axes", std::move(axes)}}, 11), {noise({2, 3, 4, 5})});
    return lowering.calls.empty() ? lowering.reason : lowering.calls[0].op;
  };
  EXPECT_EQ(op_of("ReduceMean", {2, 3}), "pool_global");
  EXPECT_EQ(op_of("ReduceMin", {-1}), "reduce");
  EXPECT_EQ(op_of("ReduceSum", {2, 3}), "move");
  EXPECT_THAT(op_of("ReduceSum", {4}), HasSubstr("axis 4"));
}

}  // namespace
}  // namespace clvet
