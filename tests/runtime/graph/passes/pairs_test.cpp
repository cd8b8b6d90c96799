// A depthwise convolution and the convolution by single pixels behind it as one step.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/steps_domain.h"
#include "tests/runtime/graph/passes/by_hand.h"
#include "tests/runtime/model_builder.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Not;

struct Choice {
  bool biased = true;          // both convolutions
  bool clip = false;           // between them, at 4
  bool relu = false;           // behind all
  bool sum = false;            // of the second one and z
  bool sum_of_middle = false;  // of the second one and the first one
  bool read_twice = false;     // the first one is an output, too
  int64_t channels = 2;        // of x
  int64_t group = 2;           // of the first one
  int64_t filters = 2;         // of the first one
  int64_t taps = 1;            // of the second one, along each axis
  int64_t stride = 1;          // of the second one
};

// x [1, 2, 1, 3], windows of 1 x 3 with a border of one, 2 filters.
ModelBuilder model_of(const Choice& choice) {
  ModelBuilder model(18);
  model.input("x", {1, choice.channels, 1, 3}).input("z", {1, 2, 1, 3});
  std::vector<float> w1 = {1, 2, 3, 0, -1, 1};
  w1.resize(static_cast<size_t>(choice.filters * choice.channels / choice.group * 3), 1);
  model.constant("w1", {choice.filters, choice.channels / choice.group, 1, 3}, w1);
  model.constant("b1", {choice.filters},
                 std::vector<float>(static_cast<size_t>(choice.filters), 0.5));
  std::vector<float> w2 = {1, 2, 0, -1};
  w2.resize(static_cast<size_t>(2 * choice.filters * choice.taps * choice.taps), 1);
  model.constant("w2", {2, choice.filters, choice.taps, choice.taps}, w2)
      .constant("b2", {2}, {3, 4});
  model.constant("low", {}, {-100}).constant("high", {}, {4});
  const auto conv = [&](std::vector<std::string> inputs, const char* output) -> onnx::NodeProto& {
    if (!choice.biased) inputs.pop_back();
    return model.node("Conv", inputs, {output});
  };
  onnx::NodeProto& first = conv({"x", "w1", "b1"}, "d");
  test::set_ints(first, "pads", {0, 1, 0, 1});
  test::set_int(first, "group", choice.group);
  if (choice.clip) model.node("Clip", {"d", "low", "high"}, {"c"});
  onnx::NodeProto& second = conv({choice.clip ? "c" : "d", "w2", "b2"}, "p");
  test::set_ints(second, "pads", std::vector<int64_t>(4, choice.taps / 2));
  test::set_ints(second, "strides", {choice.stride, choice.stride});
  std::string y = "p";
  if (choice.sum || choice.sum_of_middle) {
    model.node("Add", {"p", choice.sum ? "z" : "d"}, {"s"});
    y = "s";
  }
  if (choice.relu) {
    model.node("Relu", {y}, {"y"});
    y = "y";
  }
  model.output(y);
  if (choice.read_twice) model.output("d");
  return model;
}

void gather(Graph& graph) {
  EXPECT_TRUE(optimise(graph));
  gather_sums(graph);
  gather_pairs(graph);
}

std::vector<std::string> ops_of(const Choice& choice, bool has_levels = false) {
  Graph graph = test::folded(model_of(choice));
  EXPECT_TRUE(optimise(graph));
  if (!has_levels) gather_sums(graph);
  graph.has_levels = has_levels;
  gather_pairs(graph);
  return test::ops_of(graph);
}

const Tensor kX = Tensor::of<float>({1, 2, 1, 3}, {1, -2, 1, 3, 0, 2});
const Tensor kZ = Tensor::of<float>({1, 2, 1, 3}, {10, 20, 30, 1, 2, -3});

Tensor row(std::initializer_list<float> values) { return Tensor::of<float>({1, 2, 1, 3}, values); }

// The windows are 2 - 6, 1 - 4 + 3 and -2 + 2 of the first channel, -3, 2 and -2 of the second.
TEST(GatherPairs, MakesOneStepOfTwoConvolutions) {
  const auto ops = [](const Choice& choice, const Tensor& want) {
    return test::ops_after(model_of(choice), gather, {{"x", kX}, {"z", kZ}}, want);
  };
  // With biases -3.5, 0.5, 0.5, and -2.5, 2.5, -1.5.
  EXPECT_THAT(ops({}, row({-5.5, 8.5, 0.5, 6.5, 1.5, 5.5})), ElementsAre(kDepthwisePair));
  EXPECT_THAT(ops({.relu = true}, row({0, 8.5, 0.5, 6.5, 1.5, 5.5})), ElementsAre(kDepthwisePair));
  EXPECT_THAT(ops({.biased = false}, row({-10, 4, -4, 3, -2, 2})), ElementsAre(kDepthwisePair));
}

TEST(GatherPairs, KeepsTheActivationBetweenThemAndTheSumBehind) {
  // Twice as much: -7.5, 0.5, 0.5 and -5.5, 4.5, -3.5 before the clip.
  const Tensor twice = Tensor::of<float>({1, 2, 1, 3}, {2, -4, 2, 6, 0, 4});
  EXPECT_THAT(test::ops_after(model_of({.clip = true}), gather, {{"x", twice}, {"z", kZ}},
                              row({-15.5, 11.5, -3.5, 9.5, 0, 7.5})),
              ElementsAre(kDepthwisePair));
  EXPECT_THAT(test::ops_after(model_of({.relu = true, .sum = true}), gather, {{"x", kX}, {"z", kZ}},
                              row({4.5, 28.5, 30.5, 7.5, 3.5, 2.5})),
              ElementsAre(kDepthwisePair));
}

TEST(GatherPairs, LeavesWhatIsNotOne) {
  const std::vector<Choice> others = {{.read_twice = true},
                                      {.sum_of_middle = true},
                                      {.group = 1},
                                      {.filters = 4},
                                      {.channels = 1, .group = 1, .filters = 1},
                                      {.channels = 4, .group = 2, .filters = 4},
                                      {.taps = 3},
                                      {.stride = 2}};
  for (const Choice& other : others) EXPECT_THAT(ops_of(other), Not(Contains(kDepthwisePair)));
  EXPECT_THAT(ops_of({}), ElementsAre(kDepthwisePair));
}

TEST(GatherPairs, LeavesAGraphWithLevels) {
  EXPECT_THAT(ops_of({}, true), ElementsAre("Conv", "Conv"));
}

}  // namespace
}  // namespace clvet
