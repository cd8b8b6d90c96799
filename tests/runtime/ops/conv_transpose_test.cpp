// ConvTranspose against loops that follow ONNX's text in float64.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
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

struct Case {
  const char* name;
  Shape x, w;
  Attributes attributes;
  int64_t group;
  std::vector<int64_t> strides, dilations, begin;  // what the attributes mean
  Shape out;
};

// Each input position p adds x * w[k] to output position p*stride + k*dilation - pad: as seen from
// an output position, the taps that reach it.
Grid plain(const Case& c, const Tensor& x_values, const Tensor& w_values, const Tensor& bias) {
  const Grid x(x_values), w(w_values), b(bias);
  const int64_t in_group = c.x[1] / c.group, out_group = c.w[1];
  Shape taps = {in_group};
  taps.insert(taps.end(), c.w.begin() + 2, c.w.end());
  return Grid(c.out, [&](const Index& at) {
    double sum = b.at({at[1]});
    test::each_index(taps, [&](const Index& tap) {
      const int64_t channel = at[1] / out_group * in_group + tap[0];
      Index from = {at[0], channel}, weight = {channel, at[1] % out_group};
      for (size_t i = 0; i + 2 < at.size(); ++i) {
        const int64_t reached = at[i + 2] + c.begin[i] - tap[i + 1] * c.dilations[i];
        from.push_back(reached % c.strides[i] ? -1 : reached / c.strides[i]);
        weight.push_back(tap[i + 1]);
      }
      sum += x.at(from) * w.at(weight);
    });
    return sum;
  });
}

std::vector<Case> cases() {
  return {
      {"one_axis",
       {2, 3, 4},
       {3, 2, 3},
       {{"strides", list({2})}, {"pads", list({1, 0})}},
       1,
       {2},
       {1},
       {1},
       {2, 2, 8}},
      {"three_axes",
       {1, 2, 2, 3, 2},
       {2, 1, 2, 2, 3},
       {{"strides", list({1, 2, 3})}},
       1,
       {1, 2, 3},
       {1, 1, 1},
       {0, 0, 0},
       {1, 1, 3, 6, 6}},
      {"groups",
       {1, 4, 3, 3},
       {4, 3, 2, 2},
       {{"group", int64_t{2}}},
       2,
       {1, 1},
       {1, 1},
       {0, 0},
       {1, 6, 4, 4}},
      {"dilations_and_pads_on_each_side",
       {1, 2, 3, 4},
       {2, 2, 3, 2},
       {{"dilations", list({2, 3})}, {"pads", list({1, 0, 2, 1})}},
       1,
       {1, 1},
       {2, 3},
       {1, 0},
       {1, 2, 4, 6}},
      {"rows_that_nothing_reaches",
       {1, 1, 2, 2},
       {1, 2, 1, 1},
       {{"strides", list({3, 3})}, {"output_padding", list({2, 1})}},
       1,
       {3, 3},
       {1, 1},
       {0, 0},
       {1, 2, 6, 5}},
      // (3 - 1) * 2 + 3 - 4 = 3 pads: 1 + 2 or 2 + 1.
      {"a_wanted_shape_with_odd_padding_behind",
       {1, 2, 3},
       {2, 2, 3},
       {{"strides", list({2})}, {"output_shape", list({4})}, {"auto_pad", word("SAME_UPPER")}},
       1,
       {2},
       {1},
       {1},
       {1, 2, 4}},
      {"a_wanted_shape_with_odd_padding_in_front",
       {1, 2, 3},
       {2, 2, 3},
       {{"strides", list({2})}, {"output_shape", list({4})}},
       1,
       {2},
       {1},
       {2},
       {1, 2, 4}},
      // An output of in * stride: (3 - 1) * 2 + 3 - 6 = 1 pad.
      {"same_upper",
       {1, 1, 3},
       {1, 1, 3},
       {{"strides", list({2})}, {"auto_pad", word("SAME_UPPER")}},
       1,
       {2},
       {1},
       {0},
       {1, 1, 6}},
      {"same_lower",
       {1, 1, 3},
       {1, 1, 3},
       {{"strides", list({2})}, {"auto_pad", word("SAME_LOWER")}},
       1,
       {2},
       {1},
       {1},
       {1, 1, 6}},
  };
}

class ConvTransposeCases : public ::testing::TestWithParam<Case> {};

// At most 36 terms below 1 in float32.
TEST_P(ConvTransposeCases, EqualTheFormula) {
  const Case& c = GetParam();
  const Tensor x = noise(c.x, 3), w = noise(c.w, 7), bias = noise({c.w[1] * c.group}, 11);
  const Node node = make_node("ConvTranspose", 3, c.attributes);
  const Grid want = plain(c, x, w, bias);
  test::at_each_width([&] { test::expect_grid(test::run_one(node, {x, w, bias}), want, 3e-6); });
}

INSTANTIATE_TEST_SUITE_P(All, ConvTransposeCases, ::testing::ValuesIn(cases()),
                         [](const auto& info) { return info.param.name; });

TEST(ConvTranspose, TakesAWantedShapeWithItsBatchAndChannels) {
  const Tensor x = noise({1, 2, 3}), w = noise({2, 2, 3});
  const auto run = [&](std::vector<int64_t> shape) {
    const Node node = make_node("ConvTranspose", 2, {{"output_shape", std::move(shape)}});
    return test::run_one(node, {x, w});
  };
  test::expect_near(run({1, 2, 4}), run({4}), 0);
}

TEST(ConvTranspose, RefusesWhatContradictsItself) {
  const struct {
    Shape x, w;
    Attributes attributes;
    const char* part;
  } faults[] = {
      {{1, 3, 4}, {2, 2, 3}, {}, "[2,2,3]"},
      {{1, 3, 4}, {3, 2, 3}, {{"group", int64_t{2}}}, "2 groups"},
      {{1, 3, 4}, {3, 2, 3}, {{"group", int64_t{0}}}, "0 groups"},
      {{1, 3}, {3, 2}, {}, "ConvTranspose's input [1,3]"},
      {{1, 3, 4}, {3, 2, 3}, {{"output_padding", list({-1})}}, "output_padding contains -1"},
      {{1, 3, 4}, {3, 2, 3}, {{"output_shape", list({4, 4})}}, "output_shape has 2 values"},
      {{1, 3, 4}, {3, 2, 3}, {{"output_shape", list({0})}}, "output_shape contains 0"},
      {{1, 3, 4}, {3, 2, 3}, {{"pads", list({3, 3})}}, "have the extent 0"},
      {{1, 3, 4}, {3, 2, 3}, {{"auto_pad", word("LOWER")}}, "auto_pad"},
      {{1, 3, 4}, {3, 2, 3}, {{"strides", list({2147483648})}}, "strides contains 2147483648"},
  };
  for (const auto& fault : faults) {
    const Node node = make_node("ConvTranspose", 2, fault.attributes);
    EXPECT_THAT(refusal(node, {noise(fault.x), noise(fault.w)}), HasSubstr(fault.part));
  }
  EXPECT_THAT(refusal(make_node("ConvTranspose", 3, {{"group", int64_t{3}}}),
                      {noise({1, 3, 4}), noise({3, 2, 3}), noise({2})}),
              HasSubstr("bias [2] does not fit 6 channels"));
}

TEST(ConvTranspose, GivesTheKernelItsWeightsByTapThenChannelThenFilter) {
  const Node node = make_node("ConvTranspose", 2);
  const std::vector<Tensor> inputs = {noise({1, 3, 1, 2}), test::counting({3, 2, 1, 2})};
  const OpCall call = test::make_call(node, inputs, {false, true});
  // w[channel][filter][tap] counts 4, 2 and 1 a step.
  EXPECT_EQ(node.def->constant(call, {"w"}),
            (std::vector<double>{0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(node.def->constant(call, {"bias"}), (std::vector<double>{0, 0}));
}

TEST(ConvTranspose, LeavesGroupsAndThirdAxesToTheHost) {
  const Node grouped = make_node("ConvTranspose", 2, {{"group", int64_t{2}}});
  EXPECT_THAT(test::lowered(grouped, {noise({1, 4, 3, 3}), noise({4, 1, 2, 2})}).reason,
              HasSubstr("groups"));
  const Node deep = make_node("ConvTranspose", 2);
  EXPECT_THAT(test::lowered(deep, {noise({1, 1, 2, 2, 2}), noise({1, 1, 2, 2, 2})}).reason,
              HasSubstr("kernels support at most two spatial axes"));
}

}  // namespace
}  // namespace clvet
