// MaxPool, AveragePool and the global pools against loops in float64.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
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
using test::Index;
using test::list;
using test::make_node;
using test::noise;
using test::refusal;
using test::word;
using ::testing::HasSubstr;

constexpr float kInf = std::numeric_limits<float>::infinity();

struct Case {
  const char* name;
  Shape x;
  std::vector<int64_t> kernel;
  Attributes attributes;
  std::vector<int64_t> strides, dilations, begin, end;  // what the attributes mean
  Shape out;
};

// fn(value, whether it is in the input, whether it is in the input or its padding) of each tap.
template <class Fn>
void each_tap(const Case& c, const Grid& x, const Index& at, Fn&& fn) {
  test::each_index(c.kernel, [&](const Index& tap) {
    Index from = {at[0], at[1]};
    bool inside = true, padded = true;
    for (size_t i = 0; i < tap.size(); ++i) {
      const int64_t place = at[i + 2] * c.strides[i] - c.begin[i] + tap[i] * c.dilations[i];
      inside = inside && place >= 0 && place < c.x[i + 2];
      padded = padded && place < c.x[i + 2] + c.end[i];
      from.push_back(place);
    }
    fn(x.at(from), inside, padded);
  });
}

std::vector<Case> cases() {
  return {
      {"one_axis",
       {2, 3, 9},
       {3},
       {{"strides", list({2})}, {"pads", list({1, 0})}},
       {2},
       {1},
       {1},
       {0},
       {2, 3, 4}},
      {"three_axes",
       {1, 2, 4, 5, 3},
       {2, 3, 2},
       {{"strides", list({1, 2, 1})}, {"pads", list({1, 1, 0, 0, 1, 1})}},
       {1, 2, 1},
       {1, 1, 1},
       {1, 1, 0},
       {0, 1, 1},
       {1, 2, 4, 3, 3}},
      {"dilated",
       {1, 2, 7, 8},
       {2, 3},
       {{"dilations", list({3, 2})}, {"pads", list({1, 2, 1, 0})}},
       {1, 1},
       {3, 2},
       {1, 2},
       {1, 0},
       {1, 2, 6, 6}},
      // 5 in steps of 2 by windows of 2 leave one over: rounded up, a third window holds it.
      {"rounded_up",
       {1, 2, 5, 5},
       {2, 2},
       {{"strides", list({2, 2})}, {"ceil_mode", int64_t{1}}},
       {2, 2},
       {1, 1},
       {0, 0},
       {0, 0},
       {1, 2, 3, 3}},
      // Rounded up, a fourth window would begin behind the input: it is left out.
      {"rounded_up_without_a_window_of_padding",
       {1, 1, 6},
       {1},
       {{"strides", list({2})}, {"pads", list({0, 1})}, {"ceil_mode", int64_t{1}}},
       {2},
       {1},
       {0},
       {1},
       {1, 1, 3}},
      // Rounded up, a window larger than its input holds what is there, as torch exports them for
      // pools of a whole plane.
      {"rounded_up_beyond_a_small_input",
       {1, 2, 2, 3},
       {9, 4},
       {{"strides", list({8, 4})}, {"ceil_mode", int64_t{1}}},
       {8, 4},
       {1, 1},
       {0, 0},
       {0, 0},
       {1, 2, 1, 1}},
      {"same_upper",
       {1, 2, 5, 6},
       {2, 3},
       {{"auto_pad", word("SAME_UPPER")}, {"strides", list({1, 2})}},
       {1, 2},
       {1, 1},
       {0, 0},
       {1, 1},
       {1, 2, 5, 3}},
      {"same_lower",
       {1, 2, 5, 6},
       {2, 3},
       {{"auto_pad", word("SAME_LOWER")}, {"strides", list({1, 2})}},
       {1, 2},
       {1, 1},
       {1, 1},
       {0, 0},
       {1, 2, 5, 3}},
  };
}

class PoolCases : public ::testing::TestWithParam<Case> {
 protected:
  static Tensor run(const char* op, const Tensor& x, bool pads_count = false) {
    Attributes attributes = GetParam().attributes;
    attributes["kernel_shape"] = GetParam().kernel;
    if (pads_count) attributes["count_include_pad"] = int64_t{1};
    return test::run_one(make_node(op, 1, attributes, 19), {x});
  }
};

TEST_P(PoolCases, TakeTheLargest) {
  const Tensor x = noise(GetParam().x, 5);
  const Grid grid(x);
  const Grid want(GetParam().out, [&](const Index& at) {
    double best = -std::numeric_limits<double>::infinity();
    each_tap(GetParam(), grid, at,
             [&](double v, bool inside, bool) { best = inside ? std::max(best, v) : best; });
    return best;
  });
  test::at_each_width([&] { test::expect_grid(run("MaxPool", x), want, 0); });
}

// Rows of several vectors, with a NaN and infinities: each window that sees the NaN gives it.
TEST(MaxPool, TakesTheLargestOfLongRows) {
  for (const int64_t stride : {1, 2, 3}) {
    std::vector<float> values = test::floats(noise({2 * 9 * 83}, 5));
    values[3 * 83 + 40] = std::nanf("");
    values[83] = kInf;
    for (int64_t i = 9 * 83; i < 18 * 83; ++i) values[static_cast<size_t>(i)] = -kInf;
    const Tensor x = Tensor::from<float>({1, 2, 9, 83}, values);
    const Node node = make_node("MaxPool", 1,
                                {{"kernel_shape", list({5, 5})},
                                 {"pads", list({2, 2, 2, 2})},
                                 {"strides", list({stride, stride})}});
    const Shape out{1, 2, 8 / stride + 1, 82 / stride + 1};
    const Grid grid(x);
    const Grid want(out, [&](const Index& at) {
      double best = -std::numeric_limits<double>::infinity();
      test::each_index({5, 5}, [&](const Index& tap) {
        const double v =
            grid.at({0, at[1], at[2] * stride - 2 + tap[0], at[3] * stride - 2 + tap[1]},
                    -std::numeric_limits<double>::infinity());
        if (!std::isnan(best) && (std::isnan(v) || v > best)) best = v;
      });
      return best;
    });
    test::at_each_width([&] { test::expect_grid(test::run_one(node, {x}), want, 0); });
  }
}

// Up to 12 terms, summed in double and rounded once.
TEST_P(PoolCases, AverageWithAndWithoutThePadding) {
  const Tensor x = noise(GetParam().x, 5);
  const Grid grid(x);
  for (const bool pads_count : {false, true}) {
    const Grid want(GetParam().out, [&](const Index& at) {
      double sum = 0, count = 0;
      each_tap(GetParam(), grid, at, [&](double v, bool inside, bool padded) {
        sum += inside ? v : 0;
        count += (pads_count ? padded : inside) ? 1 : 0;
      });
      return sum / count;
    });
    test::expect_grid(run("AveragePool", x, pads_count), want, 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PoolCases, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

std::vector<Tensor> with_indices(const Tensor& x, Attributes attributes) {
  return test::run_op(make_node("MaxPool", 1, std::move(attributes), 13, 2), {x}).value();
}

TEST(MaxPool, CountsItsIndicesOverTheWholeTensor) {
  const Tensor x = Tensor::of<float>({2, 1, 2, 3}, {1, 5, 2, 4, 3, 6, 9, 7, 7, 8, 9, 1});
  const auto rows = with_indices(x, {{"kernel_shape", list({2, 2})}});
  EXPECT_EQ(test::floats(rows[0]), (std::vector<float>{5, 6, 9, 9}));
  EXPECT_EQ(rows[1].to_i64(), (std::vector<int64_t>{1, 5, 6, 10}));
  // By columns: element (r, c) of a plane of 2 rows is number 2 c + r.
  const auto columns =
      with_indices(x, {{"kernel_shape", list({2, 2})}, {"storage_order", int64_t{1}}});
  EXPECT_EQ(columns[1].to_i64(), (std::vector<int64_t>{2, 5, 6, 9}));
}

TEST(MaxPool, TakesTheFirstOfEqualValues) {
  const auto outputs = with_indices(Tensor::of<float>({1, 1, 4}, {3, 3, -kInf, -kInf}),
                                    {{"kernel_shape", list({2})}, {"strides", list({2})}});
  EXPECT_EQ(test::floats(outputs[0]), (std::vector<float>{3, -kInf}));
  EXPECT_EQ(outputs[1].to_i64(), (std::vector<int64_t>{0, 2}));
}

TEST(MaxPool, WorksOnIntegers) {
  const Tensor x = Tensor::of<int8_t>({1, 1, 4}, {-128, -127, 127, -1});
  const Tensor y = test::run_one(make_node("MaxPool", 1, {{"kernel_shape", list({2})}}), {x});
  EXPECT_EQ(y.dtype(), DType::kI8);
  EXPECT_EQ(y.to_i64(), (std::vector<int64_t>{-127, 127, 127}));
}

TEST(Pools, RefuseWhatContradictsItself) {
  const struct {
    Shape x;
    Attributes attributes;
    const char* part;
  } faults[] = {
      {{1, 2, 5, 5}, {}, "needs the attribute kernel_shape"},
      {{1, 2}, {{"kernel_shape", list({})}}, "the shape [1,2]"},
      {{1, 2, 5, 5}, {{"kernel_shape", list({3})}}, "kernel_shape has 1 values"},
      {{1, 2, 5, 5}, {{"kernel_shape", list({3, 0})}}, "kernel_shape contains 0"},
      {{1, 2, 5, 5}, {{"kernel_shape", list({6, 1})}}, "window of 6"},
      {{1, 2, 5, 5},
       {{"kernel_shape", list({1, 1})}, {"strides", list({0, 1})}},
       "strides contains 0"},
      {{1, 2, 5, 5}, {{"kernel_shape", list({1, 1})}, {"pads", list({1})}}, "pads has 1 values"},
      {{1, 2, 5, 5}, {{"kernel_shape", list({1, 1})}, {"auto_pad", word("same")}}, "auto_pad"},
      {{1, 2, 5, 5}, {{"kernel_shape", list({INT64_MAX, 1})}}, "kernel_shape contains"},
  };
  for (const auto& fault : faults) {
    for (const char* op : {"MaxPool", "AveragePool"}) {
      EXPECT_THAT(refusal(make_node(op, 1, fault.attributes), {noise(fault.x)}),
                  HasSubstr(fault.part));
    }
  }
}

TEST(Pools, LowerWithEveryPadNamed) {
  const Node node = make_node("AveragePool", 1,
                              {{"kernel_shape", list({3, 2})},
                               {"strides", list({2, 1})},
                               {"pads", list({1, 0, 2, 1})},
                               {"count_include_pad", int64_t{1}}});
  const Lowering lowering = test::lowered(node, {noise({2, 3, 6, 5})});
  ASSERT_EQ(lowering.calls.size(), 1u) << lowering.reason;
  const auto& dims = lowering.calls[0].dims;
  const auto are = [&](const std::vector<const char*>& names) {
    std::vector<int64_t> values;
    for (const char* name : names) values.push_back(dims.at(name));
    return values;
  };
  EXPECT_EQ(are({"N", "C", "H", "W", "OH", "OW"}), (std::vector<int64_t>{2, 3, 6, 5, 4, 5}));
  EXPECT_EQ(are({"pad_top", "pad_left", "pad_bottom", "pad_right"}),
            (std::vector<int64_t>{1, 0, 2, 1}));
  EXPECT_EQ(are({"kind", "count_include_pad"}), (std::vector<int64_t>{1, 1}));
}

TEST(GlobalPools, ReduceEachPlane) {
  for (const Shape& shape :
       {Shape{2, 3}, Shape{2, 3, 5}, Shape{2, 3, 4, 5}, Shape{1, 2, 2, 3, 2}}) {
    const Tensor x = noise(shape, 9);
    const Grid grid(x);
    Shape plane(shape.begin() + 2, shape.end()), out(shape.size(), 1);
    out[0] = shape[0];
    out[1] = shape[1];
    const auto over = [&](const char* op, double start, auto&& add, bool mean) {
      const Grid want(out, [&](const Index& at) {
        double value = start, count = 0;
        test::each_index(plane, [&](const Index& inner) {
          Index from = {at[0], at[1]};
          from.insert(from.end(), inner.begin(), inner.end());
          value = add(value, grid.at(from));
          ++count;
        });
        return mean ? value / count : value;
      });
      test::expect_grid(test::run_one(make_node(op, 1), {x}), want, 1e-7);
    };
    over(
        "GlobalAveragePool", 0, [](double a, double b) { return a + b; }, true);
    over(
        "GlobalMaxPool", -2, [](double a, double b) { return std::max(a, b); }, false);
  }
}

TEST(GlobalPools, SumInDouble) {
  Tensor x = Tensor::create(DType::kF32, {1, 1, 1 << 18}).value();
  std::fill_n(x.data<float>(), x.elements(), 16777217.f / 3);
  const Tensor y = test::run_one(make_node("GlobalAveragePool", 1), {x});
  EXPECT_EQ(y.data<float>()[0], x.data<float>()[0]);
}

TEST(GlobalPools, RefuseAVectorAndWhatIsNoFloat) {
  EXPECT_THAT(refusal(make_node("GlobalMaxPool", 1), {noise({3})}),
              HasSubstr("GlobalMaxPool does not take an input of the shape [3]"));
  EXPECT_THAT(refusal(make_node("GlobalAveragePool", 1), {Tensor::of<int32_t>({1, 1}, {1})}),
              HasSubstr("does not support the type i32"));
}

// Rows -1 and 1 of an input of one row.
TEST(MaxPool, WithAWindowInThePaddingAloneStaysOnTheHost) {
  const Node node = make_node("MaxPool", 1,
                              {{"kernel_shape", list({2, 1})},
                               {"dilations", list({2, 2})},
                               {"pads", list({1, 0, 1, 0})},
                               {"strides", list({3, 4})}});
  EXPECT_THAT(test::lowered(node, {noise({1, 3, 1, 4})}).reason, HasSubstr("padding alone"));
}

}  // namespace
}  // namespace clvet
