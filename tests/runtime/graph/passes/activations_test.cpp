// Activations and affine maps into the node before them, gates, and what of them must stay.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
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

const std::vector<float> kSamples = {-7, -3, -0.5f, 0, 0.25f, 2, 3, 9};

Tensor samples() { return Tensor::from(Shape{8}, std::span<const float>(kSamples)); }

// `f` of each sample.
template <class F>
Tensor mapped(const F& f) {
  std::vector<float> values;
  for (const float x : kSamples) values.push_back(static_cast<float>(f(static_cast<double>(x))));
  return Tensor::from(Shape{8}, std::span<const float>(values));
}

// x + 1, and behind it what the test is about.
ModelBuilder sum_then() {
  ModelBuilder model(20);
  model.input("x", {8}).constant("one", {}, {1});
  model.node("Add", {"x", "one"}, {"a"});
  model.output("y");
  return model;
}

struct Row {
  const char* op;
  std::vector<std::pair<const char*, float>> attributes;
  double (*f)(double);
};

// The formulas of ONNX's operator pages.
const Row kActivations[] = {
    {"Relu", {}, [](double z) { return std::max(z, 0.0); }},
    {"Sigmoid", {}, [](double z) { return 1 / (1 + std::exp(-z)); }},
    {"Tanh", {}, [](double z) { return std::tanh(z); }},
    {"LeakyRelu", {}, [](double z) { return z < 0 ? 0.01 * z : z; }},
    {"LeakyRelu", {{"alpha", -2.f}}, [](double z) { return z < 0 ? -2 * z : z; }},
    {"HardSigmoid", {}, [](double z) { return std::clamp(0.2 * z + 0.5, 0.0, 1.0); }},
    {"HardSigmoid",
     {{"alpha", 1.f}, {"beta", -0.25f}},
     [](double z) { return std::clamp(z - 0.25, 0.0, 1.0); }},
    {"HardSwish", {}, [](double z) { return z * std::clamp(z / 6 + 0.5, 0.0, 1.0); }},
    {"Gelu", {}, [](double z) { return 0.5 * z * (1 + std::erf(z / std::sqrt(2.0))); }},
};

TEST(FuseActivations, ComputesWhatTheSpecificationSays) {
  for (const Row& row : kActivations) {
    ModelBuilder model = sum_then();
    auto& node = model.node(row.op, {"a"}, {"y"});
    for (const auto& [name, value] : row.attributes) test::set_float(node, name, value);
    const Tensor want = mapped([&](double x) { return row.f(x + 1); });
    EXPECT_THAT(ops_after(model, fuse_activations, {{"x", samples()}}, want), ElementsAre("Add"))
        << row.op;
  }
}

struct ClipRow {
  const char* name;
  std::vector<std::string> inputs;
  double lo, hi;
};

TEST(FuseActivations, ClipsByEitherBoundAndByMaxWhereMinIsGreater) {
  const double none = std::numeric_limits<float>::max();
  for (const ClipRow& row :
       {ClipRow{"both", {"a", "small", "large"}, -2, 3}, ClipRow{"low", {"a", "small"}, -2, none},
        ClipRow{"high", {"a", "", "large"}, -none, 3},
        ClipRow{"crossed", {"a", "large", "small"}, 3, -2}}) {
    ModelBuilder model = sum_then();
    model.constant("small", {}, {-2}).constant("large", {}, {3});
    model.node("Clip", row.inputs, {"y"});
    const Tensor want = mapped([&](double x) { return std::min(std::max(x + 1, row.lo), row.hi); });
    EXPECT_THAT(ops_after(model, fuse_activations, {{"x", samples()}}, want), ElementsAre("Add"))
        << row.name;
  }
}

TEST(FuseActivations, LeavesClipWhoseBoundsAreNotKnownOrNoScalars) {
  for (const Shape& shape : {Shape{2}, Shape{0}}) {
    ModelBuilder model = sum_then();
    model.constant("bound", shape, std::vector<float>(elements_of(shape), 1.f));
    model.node("Clip", {"a", "bound"}, {"y"});
    Graph graph = model.build();
    fuse_activations(graph);
    EXPECT_THAT(test::ops_of(graph), ElementsAre("Add", "Clip")) << to_string(shape);
  }
  ModelBuilder given = sum_then();
  given.input("bound", {});
  given.node("Clip", {"a", "", "bound"}, {"y"});
  EXPECT_THAT(
      ops_after(given, fuse_activations, {{"x", samples()}, {"bound", Tensor::scalar(0.5f)}},
                mapped([](double x) { return std::min(x + 1, 0.5); })),
      ElementsAre("Add", "Clip"));
}

TEST(FuseActivations, LeavesIntegersAlone) {
  ModelBuilder model;
  model.input("x", {2}, 7).constant_i64("k", {5});
  model.node("Add", {"x", "k"}, {"a"});
  model.node("Clip", {"a", "", ""}, {"y"});
  model.output("y");
  EXPECT_THAT(ops_after(model, fuse_activations, {{"x", Tensor::of<int64_t>({2}, {-9, 4})}},
                        Tensor::of<int64_t>({2}, {-4, 9})),
              ElementsAre("Add", "Clip"));
}

TEST(FuseActivations, TakesOneActivationOnly) {
  ModelBuilder model = sum_then();
  model.node("Relu", {"a"}, {"r"});
  model.node("Tanh", {"r"}, {"y"});
  EXPECT_THAT(ops_after(model, fuse_activations, {{"x", samples()}},
                        mapped([](double x) { return std::tanh(std::max(x + 1, 0.0)); })),
              ElementsAre("Add", "Tanh"));
}

TEST(FuseActivations, LeavesAValueThatIsAnOutput) {
  ModelBuilder model = sum_then();
  model.node("Relu", {"a"}, {"y"});
  model.output("a");
  EXPECT_THAT(ops_after(model, fuse_activations, {{"x", samples()}},
                        mapped([](double x) { return std::max(x + 1, 0.0); })),
              ElementsAre("Add", "Relu"));
}

struct Affine {
  const char* op;
  bool left;  // the constant
  double (*f)(double);
  bool fused;
};

TEST(FuseActivations, TakesTheAffineMapsByAConstantThatHaveNoPole) {
  for (const Affine& row : {
           Affine{"Mul", false, [](double z) { return 4 * z; }, true},
           Affine{"Mul", true, [](double z) { return 4 * z; }, true},
           Affine{"Add", true, [](double z) { return 4 + z; }, true},
           Affine{"Sub", false, [](double z) { return z - 4; }, true},
           Affine{"Sub", true, [](double z) { return 4 - z; }, false},
           Affine{"Div", false, [](double z) { return z / 4; }, true},
           Affine{"Div", true, [](double z) { return 4 / z; }, false},
       }) {
    ModelBuilder model = sum_then();
    model.constant("half", {}, {0.5f}).constant("four", {1}, {4});
    model.node("Mul", {"a", "a"}, {"s"});
    model.node("Add", {"s", "half"}, {"t"});  // of two constants the first only
    row.left ? model.node(row.op, {"four", "t"}, {"y"}) : model.node(row.op, {"t", "four"}, {"y"});
    const Tensor want = mapped([&](double x) { return row.f((x + 1) * (x + 1) + 0.5); });
    EXPECT_EQ(ops_after(model, fuse_activations, {{"x", samples()}}, want).size(), 3u) << row.op;
  }
}

// A sum over all axes has none; a constant of rank 1 gives it one.
TEST(FuseActivations, KeepsTheAxisThatAConstantAddsToAScalar) {
  for (const char* op : {"Mul", "Add", "Sub", "Div"}) {
    ModelBuilder model;
    model.input("x", {8}).constant("k", {1}, {2});
    test::set_int(model.node("ReduceSum", {"x"}, {"s"}), "keepdims", 0);
    model.node(op, {"s", "k"}, {"y"});
    model.output("y");
    float sum = 0;
    for (const float x : kSamples) sum += x;
    const float want = *op == 'M' ? sum * 2 : *op == 'A' ? sum + 2 : *op == 'S' ? sum - 2 : sum / 2;
    EXPECT_THAT(
        ops_after(model, fuse_activations, {{"x", samples()}}, Tensor::of<float>({1}, {want})),
        ElementsAre("ReduceSum", op));
  }
}

TEST(RecogniseGates, KeepsTheAxisThatAConstantAddsToAScalar) {
  ModelBuilder model;
  model.input("x", {}).constant("three", {1}, {3}).constant("zero", {}, {0});
  model.constant("six", {}, {6});
  model.node("Add", {"x", "three"}, {"a"});
  model.node("Clip", {"a", "zero", "six"}, {"c"});
  model.node("Div", {"c", "six"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops_after(model, recognise_gates, {{"x", Tensor::scalar(0.f)}},
                        Tensor::of<float>({1}, {0.5f})),
              ElementsAre("Add", "Clip", "Div"));
}

// y = x * clip(x + b, lo, hi) / d, which is HardSwish for lo = 0 and d = hi alone.
TEST(RecogniseGates, KnowsAGateByItsNumbers) {
  struct Numbers {
    double b, lo, hi, d;
    const char* becomes;
  };
  for (const Numbers& n : {Numbers{3, 0, 6, 6, "HardSwish"}, Numbers{1, 0, 4, 4, "HardSwish"},
                           Numbers{-2, 0, 1, 1, "HardSwish"}, Numbers{3, 1, 6, 6, ""},
                           Numbers{3, 0, 6, 5, ""}, Numbers{3, 0, 6, -6, ""}}) {
    ModelBuilder model;
    model.input("x", {8}).constant("b", {}, {static_cast<float>(n.b)});
    model.constant("lo", {}, {static_cast<float>(n.lo)});
    model.constant("hi", {}, {static_cast<float>(n.hi)});
    model.constant("d", {}, {static_cast<float>(n.d)});
    model.node("Add", {"b", "x"}, {"a"});
    model.node("Clip", {"a", "lo", "hi"}, {"c"});
    model.node("Mul", {"c", "x"}, {"p"});
    model.node("Div", {"p", "d"}, {"y"});
    model.output("y");
    const Tensor want = mapped([&](double x) { return x * std::clamp(x + n.b, n.lo, n.hi) / n.d; });
    const auto ops = ops_after(model, recognise_gates, {{"x", samples()}}, want);
    if (*n.becomes) {
      EXPECT_THAT(ops, ElementsAre(n.becomes));
    } else {
      EXPECT_EQ(ops.size(), 4u) << n.lo << " " << n.d;
    }
  }
}

TEST(RecogniseGates, LeavesAGateOfAnotherValue) {
  ModelBuilder model;
  model.input("x", {8}).constant("two", {}, {2});
  model.node("Sigmoid", {"x"}, {"s"});
  model.node("Add", {"x", "two"}, {"a"});
  model.node("Mul", {"s", "a"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops_after(model, recognise_gates, {{"x", samples()}},
                        mapped([](double x) { return (x + 2) / (1 + std::exp(-x)); })),
              ElementsAre("Sigmoid", "Add", "Mul"));
}

TEST(RecogniseGates, LeavesASigmoidTimesItself) {
  ModelBuilder model;
  model.input("x", {8});
  model.node("Sigmoid", {"x"}, {"s"});
  model.node("Mul", {"s", "s"}, {"y"});
  model.output("y");
  EXPECT_THAT(ops_after(model, recognise_gates, {{"x", samples()}},
                        mapped([](double x) { return std::pow(1 + std::exp(-x), -2); })),
              ElementsAre("Sigmoid", "Mul"));
}

TEST(RemoveIdentities, KeepsADropoutWhoseMaskIsRead) {
  ModelBuilder model;
  model.input("x", {2});
  model.node("Dropout", {"x"}, {"d", "mask"});
  model.node("Relu", {"d"}, {"y"});
  model.output("y").output("mask");
  EXPECT_THAT(ops_after(model, remove_identities, {{"x", Tensor::of<float>({2}, {-1, 2})}},
                        Tensor::of<float>({2}, {0, 2})),
              ElementsAre("Dropout", "Relu"));
}

TEST(RemoveIdentities, KeepsOneOfTwoOutputsThatAreTheSame) {
  ModelBuilder model;
  model.input("x", {2});
  model.node("Relu", {"x"}, {"y"});
  model.node("Identity", {"y"}, {"z"});
  model.node("Identity", {"z"}, {"w"});
  model.output("y").output("z").output("w");
  Graph graph = model.build();
  ASSERT_TRUE(optimise(graph));
  const auto got = run_graph(graph, {{"x", Tensor::of<float>({2}, {-1, 2})}});
  ASSERT_TRUE(got) << got.error().message;
  for (const Tensor& output : *got) EXPECT_THAT(test::floats(output), ElementsAre(0, 2));
  std::vector<std::string> names;
  for (const ValueId id : graph.outputs) names.push_back(graph.values[id].name);
  EXPECT_THAT(names, ElementsAre("y", "z", "w"));
}

}  // namespace
}  // namespace clvet
