// A convolution by single pixels and the sum behind it as one step.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
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
  bool sum_first = false;      // Add(z, conv)
  bool biased = true;          // the convolution
  bool relu = false;           // behind the sum
  bool relu_between = false;   // behind the convolution
  bool read_twice = false;     // the convolution is an output, too
  bool to_itself = false;      // Add(conv, conv)
  bool constant = false;       // what is added
  int64_t taps = 1;            // along each axis
  int64_t stride = 1;          // along each axis
  int64_t group = 1;           // of two
  Shape added = {1, 2, 1, 2};  // the shape of z
  int64_t width = 2;           // of x [1, 2, 1, width]
};

// 2 filters over 2 channels.
ModelBuilder model_of(const Choice& choice) {
  ModelBuilder model(18);
  model.input("x", {1, 2, 1, choice.width});
  const std::vector<float> ones(static_cast<size_t>(elements_of(choice.added)), 1);
  if (choice.constant)
    model.constant("z", choice.added, ones);
  else
    model.input("z", choice.added);
  std::vector<float> w = {1, 2, 0, -1};
  w.resize(static_cast<size_t>(4 * choice.taps * choice.taps / choice.group), 1);
  model.constant("w", {2, 2 / choice.group, choice.taps, choice.taps}, w);
  model.constant("b", {2}, {0.5, 1});
  std::vector<std::string> inputs = {"x", "w"};
  if (choice.biased) inputs.emplace_back("b");
  onnx::NodeProto& conv = model.node("Conv", inputs, {"c"});
  test::set_ints(conv, "pads", std::vector<int64_t>(4, choice.taps / 2));
  test::set_ints(conv, "strides", {choice.stride, choice.stride});
  test::set_int(conv, "group", choice.group);
  if (choice.relu_between) model.node("Relu", {"c"}, {"r"});
  const std::string c = choice.relu_between ? "r" : "c", z = choice.to_itself ? c : "z";
  model.node("Add", {choice.sum_first ? z : c, choice.sum_first ? c : z}, {"s"});
  if (choice.relu) model.node("Relu", {"s"}, {"y"});
  model.output(choice.relu ? "y" : "s");
  if (choice.read_twice) model.output("c");
  return model;
}

void gather(Graph& graph) {
  EXPECT_TRUE(optimise(graph));
  gather_sums(graph);
}

std::vector<std::string> ops_of(const Choice& choice, bool has_levels = false) {
  return test::ops_gathered(model_of(choice), gather_sums, has_levels);
}

// The products are 1 + 2 * 3, -2 + 2 * 4, -3 and -4.
TEST(GatherSums, MakesOneStepOfAConvolutionAndASum) {
  const Tensor x = Tensor::of<float>({1, 2, 1, 2}, {1, -2, 3, 4});
  const Tensor z = Tensor::of<float>({1, 2, 1, 2}, {10, 20, 30, 1});
  for (const bool swapped : {false, true}) {
    EXPECT_THAT(test::ops_after(model_of({.sum_first = swapped}), gather, {{"x", x}, {"z", z}},
                                Tensor::of<float>({1, 2, 1, 2}, {17.5, 26.5, 28, -2})),
                ElementsAre(kConvAdd));
  }
  EXPECT_THAT(
      test::ops_after(model_of({.biased = false, .relu = true}), gather, {{"x", x}, {"z", z}},
                      Tensor::of<float>({1, 2, 1, 2}, {17, 26, 27, 0})),
      ElementsAre(kConvAdd));
}

TEST(GatherSums, LeavesWhatIsNotOne) {
  const std::vector<Choice> others = {{.relu_between = true},
                                      {.read_twice = true},
                                      {.to_itself = true},
                                      {.constant = true},
                                      {.taps = 3},
                                      {.stride = 2, .added = {1, 2, 1, 1}},
                                      {.group = 2},
                                      {.added = {1, 2, 1, 1}},
                                      {.added = {1, 2, 1, 1}, .width = 1},
                                      {.added = {2, 2, 1, 2}}};
  for (const Choice& other : others) EXPECT_THAT(ops_of(other), Not(Contains(kConvAdd)));
  EXPECT_THAT(ops_of({}), ElementsAre(kConvAdd));
}

TEST(GatherSums, LeavesAGraphWithLevels) { EXPECT_THAT(ops_of({}, true), Not(Contains(kConvAdd))); }

}  // namespace
}  // namespace clvet
