// Affine maps into convolutions and biases into products: values worked out by hand, and models
// whose extents are open, so that nothing has checked their weights before the passes see them.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "tests/runtime/graph/passes/by_hand.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using test::ops_after;
using ::testing::ElementsAre;

constexpr int64_t kMost = INT64_MAX;

// A convolution of one pixel: y = w x + b, channel by channel or mixed.
ModelBuilder pixel_conv(const std::vector<float>& w, int64_t inputs, bool open = false) {
  ModelBuilder model;
  const auto outputs = static_cast<int64_t>(w.size()) / inputs;
  model.input("x", {open ? -1 : 1, inputs, 1, 1}).constant("w", {outputs, inputs, 1, 1}, w);
  return model;
}

Tensor pixel(std::initializer_list<float> values) {
  return Tensor::of<float>({1, static_cast<int64_t>(values.size()), 1, 1}, values);
}

TEST(FoldChannelAffine, ScalesTheBiasThatTheConvHasAlready) {
  ModelBuilder model = pixel_conv({1, 2, 3, 4}, 2);
  model.constant("b", {2}, {10, 20}).constant("s", {2, 1, 1}, {2, -1});
  model.constant("t", {1, 2, 1, 1}, {100, 200});
  model.node("Conv", {"x", "w", "b"}, {"c"});
  model.node("Mul", {"c", "s"}, {"m"});
  model.node("Sub", {"t", "m"}, {"y"});
  model.output("y");
  // c = (1*5 + 2*7 + 10, 3*5 + 4*7 + 20) = (29, 63); y = (100 - 2*29, 200 + 63)
  EXPECT_THAT(ops_after(model, fold_channel_affine, {{"x", pixel({5, 7})}}, pixel({42, 263})),
              ElementsAre("Conv"));
}

TEST(FoldChannelAffine, FollowsTheGroupsOfATransposedConv) {
  ModelBuilder model;
  model.input("x", {1, 4, 1, 1}).constant("w", {4, 2, 1, 1}, {1, 2, 3, 4, 5, 6, 7, 8});
  model.constant("s", {4, 1, 1}, {1, 10, 100, 1000});
  test::set_int(model.node("ConvTranspose", {"x", "w"}, {"c"}), "group", 2);
  model.node("Mul", {"c", "s"}, {"y"});
  model.output("y");
  // Channels 0 and 1 are of x0 and x1, 2 and 3 of x2 and x3.
  EXPECT_THAT(ops_after(model, fold_channel_affine, {{"x", pixel({1, 1, 2, 1})}},
                        pixel({1 + 3, 10 * (2 + 4), 100 * (10 + 7), 1000 * (12 + 8)})),
              ElementsAre("ConvTranspose"));
}

TEST(FoldChannelAffine, NormalizesByTheFormulaOfTheSpecification) {
  ModelBuilder model = pixel_conv({1, 1}, 1);
  model.constant("scale", {2}, {3, 4}).constant("bias", {2}, {1, -1});
  model.constant("mean", {2}, {2, 0.5f}).constant("var", {2}, {3, 0});
  model.node("Conv", {"x", "w"}, {"c"});
  test::set_float(model.node("BatchNormalization", {"c", "scale", "bias", "mean", "var"}, {"y"}),
                  "epsilon", 1);
  model.output("y");
  // (x - mean) / sqrt(var + 1) * scale + bias of x = 6
  EXPECT_THAT(ops_after(model, fold_channel_affine, {{"x", pixel({6})}},
                        pixel({(6 - 2) / 2.f * 3 + 1, (6 - 0.5f) * 4 - 1})),
              ElementsAre("Conv"));
}

TEST(FoldChannelAffine, LeavesWhatIsNoMapOfEachChannel) {
  struct Row {
    const char* name;
    const char* op;
    std::vector<const char*> inputs;
    Shape shape;
    std::vector<float> constant, want;
  };
  const Row rows[] = {
      {"constant over value", "Div", {"k", "c"}, {1}, {12}, {2, 3}},
      {"division by zero", "Div", {"c", "k"}, {1}, {0}, {INFINITY, INFINITY}},
      {"the value by itself", "Mul", {"c", "c"}, {1}, {1}, {36, 16}},
  };
  for (const Row& row : rows) {
    ModelBuilder model = pixel_conv({6, 4}, 1);
    model.constant("k", row.shape, row.constant);
    model.node("Conv", {"x", "w"}, {"c"});
    model.node(row.op, {row.inputs[0], row.inputs[1]}, {"y"});
    model.output("y");
    Graph graph = test::folded(model);
    fold_channel_affine(graph);
    EXPECT_THAT(test::ops_of(graph), ElementsAre("Conv", row.op)) << row.name;
    const auto got = run_graph(graph, {{"x", pixel({1})}});
    ASSERT_TRUE(got);
    EXPECT_EQ(test::floats((*got)[0]), row.want) << row.name;
  }
}

TEST(FoldChannelAffine, LeavesAConstantThatBroadcastsTheResult) {
  ModelBuilder model = pixel_conv({2}, 1);
  model.constant("k", {1, 2, 1, 1}, {3, 4});
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("Mul", {"c", "k"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops_after(model, fold_channel_affine, {{"x", pixel({5})}}, pixel({30, 40})),
              ElementsAre("Conv", "Mul"));
}

TEST(FoldChannelAffine, LeavesAConvThatIsAnOutputItself) {
  ModelBuilder model = pixel_conv({2}, 1);
  model.constant("k", {1}, {3});
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("Mul", {"c", "k"}, {"y"});
  model.output("c").output("y");
  EXPECT_THAT(ops_after(model, fold_channel_affine, {{"x", pixel({5})}}, pixel({10})),
              ElementsAre("Conv", "Mul"));
}

TEST(FoldInputAffine, AddsTheShiftTimesTheSumOfEachFilter) {
  ModelBuilder model = pixel_conv({1, 2, 3, 4}, 2);
  model.constant("b", {2}, {10, 20}).constant("s", {}, {2}).constant("t", {1}, {0.5f});
  model.node("Mul", {"s", "x"}, {"m"});
  model.node("Sub", {"m", "t"}, {"a"});
  model.node("Conv", {"a", "w", "b"}, {"y"});
  model.output("y");
  // 2 x - 0.5 = (9.5, 13.5)
  EXPECT_THAT(ops_after(model, fold_input_affine, {{"x", pixel({5, 7})}},
                        pixel({9.5f + 27 + 10, 28.5f + 54 + 20})),
              ElementsAre("Conv"));
}

TEST(FoldInputAffine, LeavesConstantMinusValueAlone) {
  ModelBuilder model = pixel_conv({3}, 1);
  model.constant("t", {}, {1});
  model.node("Sub", {"t", "x"}, {"a"});
  model.node("Conv", {"a", "w"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops_after(model, fold_input_affine, {{"x", pixel({5})}}, pixel({-12})),
              ElementsAre("Sub", "Conv"));
}

TEST(FoldInputAffine, LeavesANodeWhoseSecondInputIsLeftOut) {
  ModelBuilder model;
  model.constant("k", {1, 1, 1, 1}, {5}).constant("w", {1, 1, 1, 1}, {3}).input("x", {1});
  model.node("Clip", {"k", ""}, {"c"});
  model.node("Conv", {"c", "w"}, {"p"});
  model.node("Add", {"p", "x"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  fold_input_affine(graph);
  fuse_activations(graph);
  EXPECT_THAT(test::ops_of(graph), ElementsAre("Clip", "Conv", "Add"));
}

TEST(FuseBias, LeavesARowThatAddsAxesOrIsNoRow) {
  for (const Shape& shape : {Shape{1, 2}, Shape{1}, Shape{}, Shape{2, 1}}) {
    ModelBuilder model;
    model.input("x", {2, 2}).constant("w", {2, 2}, {1, 0, 0, 1});
    model.constant("b", shape, std::vector<float>(elements_of(shape), 1.f));
    model.node("MatMul", {"x", "w"}, {"m"});
    model.node("Add", {"m", "b"}, {"y"});
    model.output("y");
    EXPECT_THAT(ops_after(model, fuse_bias, {{"x", Tensor::of<float>({2, 2}, {1, 2, 3, 4})}},
                          Tensor::of<float>({2, 2}, {2, 3, 4, 5})),
                ElementsAre("MatMul", "Add"))
        << to_string(shape);
  }
}

TEST(FuseBias, TakesARowBehindAVectorToo) {
  ModelBuilder model;
  model.input("x", {2}).constant("w", {2, 3}, {1, 2, 3, 4, 5, 6}).constant("b", {3}, {7, 8, 9});
  model.node("MatMul", {"x", "w"}, {"m"});
  model.node("Add", {"m", "b"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops_after(model, fuse_bias, {{"x", Tensor::of<float>({2}, {1, 10})}},
                        Tensor::of<float>({3}, {48, 60, 72})),
              ElementsAre("MatMul"));
}

// Weights, biases and groups that lie. The input's extents are open: inference has not seen them.
struct Lie {
  const char* name;
  const char* op;
  Shape w, b;  // no b: rank 0
  int64_t group;
};

const Lie kLies[] = {
    {"bias_too_short", "Conv", {6, 4, 1, 1}, {1}, 1},
    {"bias_too_long", "Conv", {2, 4, 1, 1}, {64}, 1},
    {"bias_empty", "Conv", {6, 4, 1, 1}, {0}, 1},
    {"no_filters", "Conv", {0, 4, 1, 1}, {}, 1},
    {"no_channels", "Conv", {2, 0, 1, 1}, {}, 1},
    {"no_taps", "Conv", {2, 4, 0, 1}, {}, 1},
    {"transposed_bias_too_short", "ConvTranspose", {4, 6, 1, 1}, {1}, 1},
    {"transposed_group_zero", "ConvTranspose", {4, 6, 1, 1}, {}, 0},
    {"transposed_group_negative", "ConvTranspose", {4, 6, 1, 1}, {}, -1},
    {"transposed_group_no_divisor", "ConvTranspose", {4, 6, 1, 1}, {}, 3},
    {"transposed_group_beyond", "ConvTranspose", {4, 6, 1, 1}, {}, 64},
    {"transposed_group_overflows", "ConvTranspose", {4, 6, 1, 1}, {}, kMost},
    {"transposed_no_channels", "ConvTranspose", {4, 0, 1, 1}, {}, 1},
    {"transposed_no_filters", "ConvTranspose", {0, 6, 1, 1}, {}, 1},
};

class LyingConv : public ::testing::TestWithParam<Lie> {
 protected:
  // Filters of no channels are a legal way to an empty result; all else is refused where it runs.
  static void expect_left(const Graph& graph, const std::vector<std::string>& ops) {
    EXPECT_EQ(test::ops_of(graph), ops);
    const auto got = run_graph(graph, {{"x", test::noise({1, 4, 2, 2})}});
    EXPECT_EQ(got ? got->front().elements() : 0, 0);
  }
  ModelBuilder conv(const std::string& from, const std::string& to) const {
    const Lie& lie = GetParam();
    ModelBuilder model;
    model.input("x", {-1, 4, -1, -1}).constant("k", {1}, {2});
    model.constant("w", lie.w, std::vector<float>(elements_of(lie.w), 1.f));
    std::vector<std::string> inputs{from, "w"};
    if (!lie.b.empty()) {
      model.constant("b", lie.b, std::vector<float>(elements_of(lie.b), 1.f));
      inputs.push_back("b");
    }
    test::set_int(model.node(lie.op, inputs, {to}), "group", lie.group);
    return model;
  }
};

TEST_P(LyingConv, IsLeftAsItIsBeforeAnAffineMap) {
  ModelBuilder model = conv("x", "c");
  model.node("Mul", {"c", "k"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  fold_channel_affine(graph);
  expect_left(graph, {GetParam().op, "Mul"});
}

TEST_P(LyingConv, IsLeftAsItIsBehindAnAffineMap) {
  ModelBuilder model = conv("m", "y");
  model.node("Mul", {"x", "k"}, {"m"});
  model.output("y");
  Graph graph = model.build();
  fold_input_affine(graph);
  expect_left(graph, {"Mul", GetParam().op});
}

INSTANTIATE_TEST_SUITE_P(All, LyingConv, ::testing::ValuesIn(kLies),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace clvet
