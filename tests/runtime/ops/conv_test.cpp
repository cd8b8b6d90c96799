// Conv against loops that follow ONNX's formula in float64.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/contract.h"
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

struct Case {
  const char* name;
  Shape x, w;
  Attributes attributes;
  std::vector<int64_t> strides, dilations, begin;  // what the attributes mean
  Shape out;
};

// y[n,o,p] = bias[o] + sum over c, k of x[n, c of o's group, p*stride - pad + k*dilation]*w[o,c,k].
Grid plain_conv(const Case& c, const Tensor& x_values, const Tensor& w_values, const Tensor& bias) {
  const Grid x(x_values), w(w_values), b(bias);
  const int64_t per_group = c.w[0] / (c.x[1] / c.w[1]);
  const Shape taps(c.w.begin() + 1, c.w.end());
  return Grid(c.out, [&](const Index& at) {
    double sum = b.at({at[1]});
    test::each_index(taps, [&](const Index& tap) {
      Index from = {at[0], at[1] / per_group * c.w[1] + tap[0]};
      Index weight = {at[1], tap[0]};
      for (size_t i = 0; i + 2 < at.size(); ++i) {
        from.push_back(at[i + 2] * c.strides[i] - c.begin[i] + tap[i + 1] * c.dilations[i]);
        weight.push_back(tap[i + 1]);
      }
      sum += x.at(from) * w.at(weight);
    });
    return sum;
  });
}

std::vector<Case> cases() {
  const auto same = [](const char* mode, std::vector<int64_t> strides) {
    return Attributes{{"auto_pad", word(mode)}, {"strides", std::move(strides)}};
  };
  return {
      {"one_axis",
       {2, 3, 9},
       {4, 3, 3},
       {{"strides", list({2})}, {"pads", list({1, 2})}},
       {2},
       {1},
       {1},
       {2, 4, 5}},
      {"three_axes",
       {1, 2, 4, 5, 3},
       {3, 2, 2, 3, 2},
       {{"strides", list({1, 2, 1})}, {"pads", list({0, 1, 1, 1, 1, 0})}},
       {1, 2, 1},
       {1, 1, 1},
       {0, 1, 1},
       {1, 3, 4, 3, 3}},
      {"dilations_that_differ",
       {1, 2, 7, 8},
       {3, 2, 3, 2},
       {{"dilations", list({2, 3})}},
       {1, 1},
       {2, 3},
       {0, 0},
       {1, 3, 3, 5}},
      {"pads_that_differ_on_each_side",
       {2, 3, 5, 4},
       {2, 3, 3, 3},
       {{"pads", list({2, 0, 1, 3})}},
       {1, 1},
       {1, 1},
       {2, 0},
       {2, 2, 6, 5}},
      {"pointwise_with_strides",
       {1, 4, 5, 6},
       {3, 4, 1, 1},
       {{"strides", list({2, 3})}},
       {2, 3},
       {1, 1},
       {0, 0},
       {1, 3, 3, 2}},
      {"pointwise_with_pads_all_around",
       {1, 2, 2, 3},
       {3, 2, 1, 1},
       {{"pads", list({1, 1, 1, 1})}},
       {1, 1},
       {1, 1},
       {1, 1},
       {1, 3, 4, 5}},
      {"pads_that_make_up_for_a_pointwise_stride",
       {1, 2, 3, 3},
       {2, 2, 1, 1},
       {{"pads", list({1, 1, 2, 2})}, {"strides", list({2, 2})}},
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 2, 3, 3}},
      {"two_filters_a_channel",
       {2, 4, 5, 6},
       {8, 1, 3, 3},
       {{"group", int64_t{4}}, {"pads", list({1, 1, 1, 1})}},
       {1, 1},
       {1, 1},
       {1, 1},
       {2, 8, 5, 6}},
      {"depthwise_of_one_axis",
       {1, 3, 11},
       {3, 1, 3},
       {{"group", int64_t{3}},
        {"strides", list({2})},
        {"dilations", list({2})},
        {"pads", list({3, 1})}},
       {2},
       {2},
       {3},
       {1, 3, 6}},
      {"depthwise_of_three_axes",
       {1, 2, 3, 4, 5},
       {2, 1, 2, 2, 3},
       {{"group", int64_t{2}}, {"pads", list({1, 0, 1, 0, 1, 2})}},
       {1, 1, 1},
       {1, 1, 1},
       {1, 0, 1},
       {1, 2, 3, 4, 6}},
      {"depthwise_that_steps_over_the_whole_row",
       {1, 2, 3, 4},
       {2, 1, 3, 3},
       {{"group", int64_t{2}}, {"strides", list({5, 7})}, {"pads", list({2, 5, 3, 5})}},
       {5, 7},
       {1, 1},
       {2, 5},
       {1, 2, 2, 2}},
      {"three_groups",
       {1, 6, 4, 4},
       {9, 2, 3, 3},
       {{"group", int64_t{3}}},
       {1, 1},
       {1, 1},
       {0, 0},
       {1, 9, 2, 2}},
      {"windows_in_the_padding_alone",
       {1, 1, 1, 1},
       {1, 1, 2, 2},
       {{"pads", list({3, 3, 3, 3})}},
       {1, 1},
       {1, 1},
       {3, 3},
       {1, 1, 6, 6}},
      // Of 6 by 5 with stride 2 and 3 taps, 1 and 2 pads are needed in all.
      {"odd_padding_behind",
       {1, 2, 6, 5},
       {2, 2, 3, 3},
       same("SAME_UPPER", {2, 2}),
       {2, 2},
       {1, 1},
       {0, 1},
       {1, 2, 3, 3}},
      {"odd_padding_in_front",
       {1, 2, 6, 5},
       {2, 2, 3, 3},
       same("SAME_LOWER", {2, 2}),
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 2, 3, 3}},
      {"even_window_and_odd_padding",
       {1, 1, 5},
       {2, 1, 4},
       same("SAME_UPPER", {1}),
       {1},
       {1},
       {1},
       {1, 2, 5}},
      {"strides_beyond_the_window_need_no_padding",
       {1, 1, 8},
       {2, 1, 1},
       same("SAME_LOWER", {3}),
       {3},
       {1},
       {0},
       {1, 2, 3}},
      {"no_padding_by_name",
       {1, 2, 5, 5},
       {2, 2, 3, 2},
       {{"auto_pad", word("VALID")}},
       {1, 1},
       {1, 1},
       {0, 0},
       {1, 2, 3, 4}},
      {"no_word_of_padding",
       {1, 2, 5, 5},
       {2, 2, 3, 2},
       {{"auto_pad", word("")}, {"pads", list({0, 1, 0, 0})}},
       {1, 1},
       {1, 1},
       {0, 1},
       {1, 2, 3, 5}},
  };
}

class ConvCases : public ::testing::TestWithParam<Case> {};

// 36 terms of at most 1 in float32: an error of 36 * 2^-24 at the very most.
TEST_P(ConvCases, EqualTheFormula) {
  const Case& c = GetParam();
  const Tensor x = noise(c.x, 3), w = noise(c.w, 7), bias = noise({c.w[0]}, 11);
  const Node node = make_node("Conv", 3, c.attributes);
  const Grid want = plain_conv(c, x, w, bias);
  test::at_each_width([&] { test::expect_grid(test::run_one(node, {x, w, bias}), want, 3e-6); });
}

INSTANTIATE_TEST_SUITE_P(All, ConvCases, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

std::vector<Case> wide_cases() {
  const auto twice = [](int64_t value) { return list({value, value}); };
  const auto around = [](int64_t value) { return list({value, value, value, value}); };
  return {
      {"several_panels_and_depths",
       {1, 30, 13, 61},
       {11, 30, 3, 3},
       {{"pads", around(1)}},
       {1, 1},
       {1, 1},
       {1, 1},
       {1, 11, 13, 61}},
      {"rows_that_step_by_two",
       {1, 3, 9, 141},
       {9, 3, 3, 3},
       {{"pads", around(1)}, {"strides", twice(2)}},
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 9, 5, 71}},
      {"pointwise_of_many_filters",
       {2, 19, 7, 7},
       {137, 19, 1, 1},
       {},
       {1, 1},
       {1, 1},
       {0, 0},
       {2, 137, 7, 7}},
      {"depthwise_rows_of_several_vectors",
       {1, 3, 6, 53},
       {3, 1, 5, 5},
       {{"group", int64_t{3}}, {"pads", around(2)}},
       {1, 1},
       {1, 1},
       {2, 2},
       {1, 3, 6, 53}},
      {"depthwise_rows_that_step_by_two",
       {1, 3, 6, 79},
       {3, 1, 3, 3},
       {{"group", int64_t{3}}, {"pads", around(1)}, {"strides", twice(2)}},
       {2, 2},
       {1, 1},
       {1, 1},
       {1, 3, 3, 40}},
  };
}

class WideConvCases : public ::testing::TestWithParam<Case> {};

// Larger than the blocks that the CPU path works in. Sums of at most 271 terms below 1.
TEST_P(WideConvCases, EqualTheFormula) {
  const Case& c = GetParam();
  const Tensor x = noise(c.x, 3), w = noise(c.w, 7), bias = noise({c.w[0]}, 11);
  const Node node = make_node("Conv", 3, c.attributes);
  const Grid want = plain_conv(c, x, w, bias);
  test::at_each_width([&] { test::expect_grid(test::run_one(node, {x, w, bias}), want, 1e-5); });
}

INSTANTIATE_TEST_SUITE_P(All, WideConvCases, ::testing::ValuesIn(wide_cases()),
                         [](const auto& info) { return info.param.name; });

// What the padding of a neighbouring row or channel holds must not reach other sums.
TEST(Conv, KeepsNaNWhereTheWindowsSeeIt) {
  for (const int64_t group : {1, 4}) {
    std::vector<float> values(4 * 5 * 40, 1);
    values[5 * 40 + 2 * 40 + 20] = std::numeric_limits<float>::quiet_NaN();
    const Tensor x = Tensor::from<float>({1, 4, 5, 40}, values);
    const Tensor w = noise({4, 4 / group, 3, 3}, 5);
    const Attributes attributes = {{"group", group}, {"pads", list({1, 1, 1, 1})}};
    test::at_each_width([&] {
      const Tensor y = test::run_one(make_node("Conv", 2, attributes), {x, w});
      test::each_index(y.shape(), [&](const Index& at) {
        const bool seen =
            at[2] >= 1 && at[2] <= 3 && at[3] >= 19 && at[3] <= 21 && (group == 1 || at[1] == 1);
        EXPECT_EQ(std::isnan(Grid(y).at(at)), seen) << group << ' ' << at[1] << ' ' << at[3];
      });
    });
  }
}

TEST(Conv, AppliesItsActivationOnce) {
  const Tensor x = noise({1, 4, 6, 9}, 3), w = noise({4, 4, 3, 3}, 7), alone = noise({4, 1, 3, 3});
  for (const int64_t group : {1, 4}) {
    const Tensor& weights = group == 1 ? w : alone;
    Node node = make_node("Conv", 2, {{"group", group}});
    std::vector<float> want = test::floats(test::run_one(node, {x, weights}));
    for (float& value : want) value = 2 * value + 3;
    node.activation = {Act::kAffine, 2, 3};
    test::at_each_width([&] {
      test::expect_near(test::run_one(node, {x, weights}), Tensor::from<float>({1, 4, 4, 7}, want),
                        1e-5);
    });
  }
}

TEST(Conv, OfNoChannelsIsTheBias) {
  const Tensor bias = Tensor::of<float>({2}, {3, -4});
  const Tensor y =
      test::run_one(make_node("Conv", 3), {noise({1, 0, 2, 3}), noise({2, 0, 1, 2}), bias});
  EXPECT_EQ(y.shape(), (Shape{1, 2, 2, 2}));
  EXPECT_EQ(test::floats(y), (std::vector<float>{3, 3, 3, 3, -4, -4, -4, -4}));
}

TEST(Conv, OfAnEmptyBatchIsEmpty) {
  const Tensor y = test::run_one(make_node("Conv", 2), {noise({0, 3, 4, 4}), noise({2, 3, 3, 3})});
  EXPECT_EQ(y.shape(), (Shape{0, 2, 2, 2}));
}

TEST(Conv, OfHalvesRoundsOnceAtTheEnd) {
  const Tensor x = Tensor::of<float>({1, 1, 3}, {1024, 1, 1}).cast(DType::kF16).value();
  const Tensor w = Tensor::of<float>({1, 1, 3}, {1, 0.5f, 0.5f}).cast(DType::kF16).value();
  const Tensor y = test::run_one(make_node("Conv", 2), {x, w});
  EXPECT_EQ(y.dtype(), DType::kF16);
  EXPECT_EQ(y.to_f64(), (std::vector<double>{1025}));  // 1024.5 lost at each step would leave 1024
}

TEST(Conv, RefusesWhatContradictsItself) {
  const struct {
    const char* what;
    Shape x, w;
    Attributes attributes;
    const char* part;
  } faults[] = {
      {"no group", {1, 2, 5, 5}, {2, 2, 3, 3}, {{"group", int64_t{0}}}, "0 groups"},
      {"a negative group", {1, 2, 5, 5}, {2, 2, 3, 3}, {{"group", int64_t{-2}}}, "-2 groups"},
      {"uneven groups", {1, 3, 5, 5}, {2, 1, 3, 3}, {{"group", int64_t{2}}}, "[1,3,5,5]"},
      {"uneven filters", {1, 4, 5, 5}, {3, 2, 3, 3}, {{"group", int64_t{2}}}, "[3,2,3,3]"},
      {"ranks that differ", {1, 2, 5}, {2, 2, 3, 3}, {}, "[2,2,3,3]"},
      {"no spatial axis", {1, 2}, {2, 2}, {}, "Conv's input [1,2]"},
      {"four spatial axes", {1, 1, 2, 2, 2, 2}, {1, 1, 1, 1, 1, 1}, {}, "rank 6"},
      {"another kernel_shape",
       {1, 2, 5, 5},
       {2, 2, 3, 3},
       {{"kernel_shape", list({3, 5})}},
       "[3,5]"},
      {"one stride", {1, 2, 5, 5}, {2, 2, 3, 3}, {{"strides", list({1})}}, "strides has 1 values"},
      {"stride 0", {1, 2, 5, 5}, {2, 2, 3, 3}, {{"strides", list({1, 0})}}, "strides contains 0"},
      {"dilation -1",
       {1, 2, 5, 5},
       {2, 2, 3, 3},
       {{"dilations", list({-1, 1})}},
       "dilations contains -1"},
      {"two pads", {1, 2, 5, 5}, {2, 2, 3, 3}, {{"pads", list({1, 1})}}, "pads has 2 values"},
      {"a negative pad",
       {1, 2, 5, 5},
       {2, 2, 3, 3},
       {{"pads", list({0, 0, -1, 0})}},
       "pads contains -1"},
      {"a pad beyond all",
       {1, 2, 5, 5},
       {2, 2, 3, 3},
       {{"pads", list({0, INT64_MAX, 0, 0})}},
       "pads contains 9223372036854775807"},
      {"a reach beyond all",
       {1, 2, 5, 5},
       {2, 2, 3, 3},
       {{"dilations", list({1, 2147483647})}},
       "larger than its input"},
      {"an output beyond all",
       {1, 2, 5, 5},
       {2, 2, 3, 3},
       {{"pads", list({2147483647, 2147483647, 0, 0})}},
       "too many elements"},
      {"padding of no known name",
       {1, 2, 5, 5},
       {2, 2, 3, 3},
       {{"auto_pad", word("SAME")}},
       "auto_pad"},
      {"a group of another kind",
       {1, 2, 5, 5},
       {2, 2, 3, 3},
       {{"group", 1.0}},
       "'group' of the kind 'f'"},
  };
  for (const auto& fault : faults) {
    SCOPED_TRACE(fault.what);
    const Node node = make_node("Conv", 2, fault.attributes);
    EXPECT_THAT(refusal(node, {noise(fault.x), noise(fault.w)}), HasSubstr(fault.part));
  }
}

TEST(Conv, RefusesOtherTypesAndABiasOfAnotherLength) {
  const Tensor x = noise({1, 2, 5, 5}), w = noise({2, 2, 3, 3});
  EXPECT_THAT(refusal(make_node("Conv", 3), {x, w, noise({3})}),
              HasSubstr("bias [3] does not fit 2"));
  EXPECT_THAT(refusal(make_node("Conv", 3), {x, w, noise({1, 2})}), HasSubstr("bias [1,2]"));
  EXPECT_THAT(refusal(make_node("Conv", 2), {x, w.cast(DType::kF16).value()}),
              HasSubstr("f32 and f16"));
  const Tensor wide = x.cast(DType::kF64).value();
  EXPECT_THAT(refusal(make_node("Conv", 2), {wide, wide}), HasSubstr("f64"));
  EXPECT_THAT(refusal(make_node("Conv", 1), {x}), HasSubstr("needs its input 1"));
  EXPECT_THAT(refusal(make_node("Conv", 4), {x, w, noise({2}), x}),
              HasSubstr("takes at most 3 inputs"));
}

TEST(Conv, LowersToTheWindowAsTheKernelNamesIt) {
  const Node node = make_node(
      "Conv", 2,
      {{"strides", list({2, 3})}, {"dilations", list({1, 2})}, {"pads", list({1, 0, 2, 4})}});
  const Lowering lowering = test::lowered(node, {noise({2, 3, 9, 8}), noise({5, 3, 3, 2})});
  ASSERT_EQ(lowering.calls.size(), 1u) << lowering.reason;
  EXPECT_EQ(lowering.calls[0].op, "conv2d");
  const Dims want = {{"N", 2},     {"C", 3},        {"H", 9},        {"W", 8},
                     {"OC", 5},    {"OH", 5},       {"OW", 4},       {"KH", 3},
                     {"KW", 2},    {"stride_h", 2}, {"stride_w", 3}, {"dil_h", 1},
                     {"dil_w", 2}, {"pad_top", 1},  {"pad_left", 0}, {"act", 0}};
  EXPECT_EQ(lowering.calls[0].dims, want);
}

TEST(Conv, NamesTheKernelByItsGroups) {
  const auto op = [](const Shape& x, const Shape& w, int64_t group) {
    const Lowering lowering =
        test::lowered(make_node("Conv", 2, {{"group", group}}), {noise(x), noise(w)});
    return lowering.calls.empty() ? lowering.reason : lowering.calls[0].op;
  };
  EXPECT_EQ(op({1, 4, 5, 5}, {4, 1, 3, 3}, 4), "depthwise");
  EXPECT_EQ(op({1, 4, 5, 5}, {8, 1, 3, 3}, 4), "conv2d_group");
  EXPECT_EQ(op({1, 4, 5, 5}, {4, 2, 3, 3}, 2), "conv2d_group");
  EXPECT_EQ(op({1, 1, 5, 5}, {1, 1, 3, 3}, 1), "conv2d");
  EXPECT_EQ(op({1, 1, 5, 5, 5}, {1, 1, 3, 3, 3}, 1), "kernels support at most two spatial axes");
}

TEST(Conv, GivesTheKernelItsWeightsByTapThenChannelThenFilter) {
  const Node node = make_node("Conv", 2);
  const std::vector<Tensor> inputs = {noise({1, 2, 1, 2}), test::counting({3, 2, 1, 2})};
  const OpCall call = test::make_call(node, inputs, {false, true});
  // w[filter][channel][tap] counts 4, 2 and 1 a step.
  EXPECT_EQ(node.def->constant(call, {"w"}),
            (std::vector<double>{0, 4, 8, 2, 6, 10, 1, 5, 9, 3, 7, 11}));
  EXPECT_EQ(node.def->constant(call, {"bias"}), (std::vector<double>{0, 0, 0}));
}

}  // namespace
}  // namespace clvet
