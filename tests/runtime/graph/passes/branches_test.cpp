// Two convolutions of one input whose channels are joined as one step.
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
  bool biased = true;        // both convolutions
  bool relu = false;         // behind each
  bool one_relu = false;     // behind the window's alone
  bool read_twice = false;   // the first one is an output, too
  bool reversed = false;     // the window's channels come first
  bool same_twice = false;   // the first one's channels are joined to themselves
  bool other_input = false;  // the second one is of z
  int64_t axis = 1;
  int64_t filters = 2;       // of the second one
  int64_t taps = 3;          // of the second one
  int64_t pixel_taps = 1;    // of the first one
  int64_t stride = 1;        // of the second one
  int64_t pixel_stride = 1;  // of the first one
  int64_t channels = 1;      // of x and z
  int64_t group = 1;         // of the second one
  bool third = false;        // z's own channels are joined, too
};

std::vector<float> filled(std::vector<float> values, int64_t count) {
  values.resize(static_cast<size_t>(count), 1);
  return values;
}

// x [1, 1, 1, 3]; one filter of a pixel, two of 1 x 3 with a border of one.
ModelBuilder model_of(const Choice& choice) {
  ModelBuilder model(18);
  model.input("x", {1, choice.channels, 1, 3}).input("z", {1, choice.channels, 1, 3});
  const int64_t pixel = choice.pixel_taps * choice.channels,
                window = choice.filters * choice.taps * choice.channels / choice.group;
  model.constant("w1", {1, choice.channels, 1, choice.pixel_taps}, filled({3}, pixel));
  model.constant("b1", {1}, {0.5});
  model.constant("w2", {choice.filters, choice.channels / choice.group, 1, choice.taps},
                 filled({1, 10, 100, 0, -1, 0}, window));
  model.constant("b2", {choice.filters}, filled({1, -1}, choice.filters));
  const auto conv = [&](std::vector<std::string> inputs, const char* output, int64_t taps,
                        int64_t stride) -> onnx::NodeProto& {
    if (!choice.biased) inputs.pop_back();
    onnx::NodeProto& node = model.node("Conv", inputs, {output});
    test::set_ints(node, "pads", {0, taps / 2, 0, taps / 2});
    test::set_ints(node, "strides", {1, stride});
    return node;
  };
  conv({"x", "w1", "b1"}, "p", choice.pixel_taps, choice.pixel_stride);
  test::set_int(conv({choice.other_input ? "z" : "x", "w2", "b2"}, "w", choice.taps, choice.stride),
                "group", choice.group);
  std::string first = "p", second = "w";
  if (choice.relu) {
    model.node("Relu", {"p"}, {"pr"});
    first = "pr";
  }
  if (choice.relu || choice.one_relu) {
    model.node("Relu", {"w"}, {"wr"});
    second = "wr";
  }
  std::vector<std::string> parts = {first, choice.same_twice ? first : second};
  if (choice.reversed) parts = {second, first};
  if (choice.third) parts.emplace_back("z");
  test::set_int(model.node("Concat", parts, {"y"}), "axis", choice.axis);
  model.output("y");
  if (choice.read_twice) model.output(first);
  return model;
}

void gather(Graph& graph) {
  EXPECT_TRUE(optimise(graph));
  gather_branches(graph);
}

std::vector<std::string> ops_of(const Choice& choice, bool has_levels = false) {
  return test::ops_gathered(model_of(choice), gather_branches, has_levels);
}

const Tensor kX = Tensor::of<float>({1, 1, 1, 3}, {1, -2, 3});

TEST(GatherBranches, MakesOneStepOfBothAndTheirConcat) {
  const auto ops = [](const Choice& choice, const Shape& shape, std::initializer_list<float> want) {
    return test::ops_after(model_of(choice), gather, {{"x", kX}, {"z", kX}},
                           Tensor::of<float>(shape, want));
  };
  const Shape all = {1, 3, 1, 3};
  EXPECT_THAT(ops({}, all, {3.5, -5.5, 9.5, -189, 282, 29, -2, 1, -4}), ElementsAre(kConvBranches));
  EXPECT_THAT(ops({.relu = true}, all, {3.5, 0, 9.5, 0, 282, 29, 0, 1, 0}),
              ElementsAre(kConvBranches));
  EXPECT_THAT(ops({.biased = false, .axis = -3}, all, {3, -6, 9, -190, 281, 28, -1, 2, -3}),
              ElementsAre(kConvBranches));
  EXPECT_THAT(ops({.stride = 2, .pixel_stride = 2}, {1, 3, 1, 2}, {3.5, 9.5, -189, 29, -2, -4}),
              ElementsAre(kConvBranches));
}

TEST(GatherBranches, LeavesWhatIsNotOne) {
  const std::vector<Choice> others = {
      {.one_relu = true},   {.read_twice = true},        {.reversed = true},
      {.same_twice = true}, {.other_input = true},       {.taps = 1},
      {.pixel_taps = 3},    {.channels = 2, .group = 2}, {.third = true}};
  for (const Choice& other : others) EXPECT_THAT(ops_of(other), Not(Contains(kConvBranches)));
  EXPECT_THAT(ops_of({}), ElementsAre(kConvBranches));
}

TEST(GatherBranches, LeavesWhatIsJoinedAlongAnotherAxis) {
  for (const int64_t axis : {2, 3})
    EXPECT_THAT(ops_of({.axis = axis, .filters = 1}), ElementsAre("Conv", "Conv", "Concat"));
  EXPECT_THAT(ops_of({.filters = 1}), ElementsAre(kConvBranches));
}

TEST(GatherBranches, LeavesAGraphWithLevels) {
  EXPECT_THAT(ops_of({}, true), ElementsAre("Conv", "Conv", "Concat"));
}

}  // namespace
}  // namespace clvet
