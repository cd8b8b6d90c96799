// Squeeze and excite as one step.
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
  bool gate_first = false;  // Mul(gate, x)
  bool biased = true;       // both layers
  bool reduces = false;     // ReduceMean in place of GlobalAveragePool
  bool of_another = false;  // the means of another value
  bool read_twice = false;  // the gate is an output, too
  int64_t pad = 0;          // of the first layer
  int64_t taps = 1;         // of the second layer, along each axis
};

// x [1, 2, 1, 2], three hidden values.
ModelBuilder model_of(const Choice& choice) {
  ModelBuilder model(18);
  model.input("x", {1, 2, 1, 2}).input("z", {1, 2, 1, 2});
  model.constant("w1", {3, 2, 1, 1}, {1, 0, 0, 1, 1, 1}).constant("b1", {3}, {0, 1, -2});
  model.constant("w2", {2, 3, choice.taps, choice.taps},
                 std::vector<float>(static_cast<size_t>(6 * choice.taps * choice.taps), 1));
  model.constant("b2", {2}, {0.5, -1}).constant_i64("axes", {2, 3});
  const std::string mean_of = choice.of_another ? "z" : "x";
  if (choice.reduces)
    model.node("ReduceMean", {mean_of, "axes"}, {"mean"});
  else
    model.node("GlobalAveragePool", {mean_of}, {"mean"});
  const auto layer = [&](std::vector<std::string> inputs, const char* out, int64_t pad) {
    if (!choice.biased) inputs.pop_back();
    onnx::NodeProto& conv = model.node("Conv", inputs, {out});
    test::set_ints(conv, "pads", std::vector<int64_t>(4, pad));
    test::set_ints(conv, "strides", {1 + 2 * pad, 1 + 2 * pad});
  };
  layer({"mean", "w1", "b1"}, "squeezed", choice.pad);
  model.node("Relu", {"squeezed"}, {"hidden"});
  layer({"hidden", "w2", "b2"}, "excited", choice.taps / 2);
  onnx::NodeProto& gate = model.node("HardSigmoid", {"excited"}, {"gate"});
  test::set_float(gate, "alpha", 0.25F);
  test::set_float(gate, "beta", 0);
  const char* first = choice.gate_first ? "gate" : "x";
  model.node("Mul", {first, choice.gate_first ? "x" : "gate"}, {"y"});
  model.output("y");
  if (choice.read_twice) model.output("gate");
  return model;
}

std::vector<std::string> ops_of(const Choice& choice, bool has_levels = false) {
  return test::ops_gathered(model_of(choice), gather_squeezes, has_levels);
}

void gather(Graph& graph) {
  EXPECT_TRUE(optimise(graph));
  gather_squeezes(graph);
}

// The means are 2 and 1: hidden are 2, 2 and 1 with biases, and the gates a quarter of 5.5 and 4,
// at most 1. Without them 2, 1 and 3: a quarter of 6.
TEST(GatherSqueezes, MakesOneStepOfThem) {
  const Tensor x = Tensor::of<float>({1, 2, 1, 2}, {1, 3, -2, 4});
  for (const bool swapped : {false, true}) {
    for (const bool reduces : {false, true}) {
      EXPECT_THAT(
          test::ops_after(model_of({.gate_first = swapped, .reduces = reduces}), gather,
                          {{"x", x}, {"z", x}}, Tensor::of<float>({1, 2, 1, 2}, {1, 3, -2, 4})),
          ElementsAre(kSqueezeExcite));
    }
  }
}

TEST(GatherSqueezes, KeepsWeightsBiasesAndActivationsApart) {
  const Tensor x = Tensor::of<float>({1, 2, 1, 2}, {-1, 0, 1, 0});
  // Means -0.5 and 0.5; hidden 0, 1.5 and 0; gates a quarter of 2 and of 0.5.
  EXPECT_THAT(test::ops_after(model_of({}), gather, {{"x", x}, {"z", x}},
                              Tensor::of<float>({1, 2, 1, 2}, {-0.5, 0, 0.125, 0})),
              ElementsAre(kSqueezeExcite));
  // Without biases hidden are 0, 0.5 and 0.
  EXPECT_THAT(test::ops_after(model_of({.biased = false}), gather, {{"x", x}, {"z", x}},
                              Tensor::of<float>({1, 2, 1, 2}, {-0.125, 0, 0.125, 0})),
              ElementsAre(kSqueezeExcite));
}

TEST(GatherSqueezes, LeavesWhatIsNotOne) {
  const std::vector<Choice> others = {
      {.of_another = true}, {.read_twice = true}, {.pad = 1}, {.taps = 3}};
  for (const Choice& other : others) EXPECT_THAT(ops_of(other), Not(Contains(kSqueezeExcite)));
  EXPECT_THAT(ops_of({}), ElementsAre(kSqueezeExcite));
}

TEST(GatherSqueezes, LeavesAGraphWithLevels) {
  EXPECT_THAT(ops_of({}, true), Not(Contains(kSqueezeExcite)));
}

}  // namespace
}  // namespace clvet
