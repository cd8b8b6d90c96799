#include "runtime/precision/float_fault.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/onnx/onnx.pb.h"
#include "runtime/precision/beside_double.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/precision/planted_networks.h"

namespace clvet {
namespace {

using test::ModelBuilder;
using testing::ElementsAre;

PrecisionDiagnosis diagnose(const Graph& graph, const std::vector<std::vector<float>>& inputs,
                            Policy policy = Policy::kNaive) {
  std::vector<CalibrationInput> sets;
  for (const auto& values : inputs)
    sets.push_back({"one",
                    {{"x", Tensor::from<float>({static_cast<int64_t>(values.size())},
                                               std::span<const float>(values))}}});
  auto found = diagnose_network(graph, sets, {.policy = policy});
  EXPECT_TRUE(found) << found.error().message;
  return found ? std::move(*found) : PrecisionDiagnosis{};
}

// y = x * x * 1e-30 * 1e-10: 1e60 for x = 1e30, which float32 does not hold.
Graph large_squares() {
  ModelBuilder model;
  model.input("x", {2}).constant("c", {1}, {1e-30f}).constant("d", {1}, {1e-10f});
  model.node("Abs", {"x"}, {"a"}).set_name("abs");
  model.node("Mul", {"a", "a"}, {"s"}).set_name("square");
  model.node("Mul", {"s", "c"}, {"t"}).set_name("small");
  model.node("Mul", {"t", "d"}, {"y"}).set_name("smaller");
  return model.output("y").build();
}

TEST(FloatFault, NamesTheFirstNodeOfInfiniteValues) {
  for (const Policy policy : {Policy::kNaive, Policy::kEngine}) {
    const auto found = diagnose(large_squares(), {{1, 1e30f}, {1, 2}}, policy);
    ASSERT_TRUE(found.float_fault);
    EXPECT_EQ(found.float_fault->name, "square");
    EXPECT_EQ(found.float_fault->op, "Mul");
    EXPECT_TRUE(found.float_fault->lost);
    EXPECT_FALSE(found.float_fault->in_float64);
    EXPECT_THAT(found.float_fault->inputs, ElementsAre(0));
    EXPECT_FALSE(found.inputs[0].in_float32);
    EXPECT_TRUE(found.inputs[1].in_float32);
  }
}

TEST(FloatFault, CountsAllInputsOfWhichTheOutputsAreLost) {
  const std::vector<float> large = {1, 1e30f}, small = {1, 2};
  const auto found = diagnose(large_squares(), {large, large, large, small, large, large});
  ASSERT_TRUE(found.float_fault);
  EXPECT_THAT(found.float_fault->inputs, ElementsAre(0, 1, 2, 4, 5));
}

TEST(FloatFault, TellsWhatFloat64DoesNotHoldEither) {
  ModelBuilder model;
  model.input("x", {2});
  model.node("Log", {"x"}, {"l"}).set_name("log");
  model.node("Neg", {"l"}, {"y"}).set_name("neg");
  const auto found = diagnose(model.output("y").build(), {{0, 2}});
  ASSERT_TRUE(found.float_fault);
  EXPECT_EQ(found.float_fault->name, "log");
  EXPECT_TRUE(found.float_fault->lost);
  EXPECT_TRUE(found.float_fault->in_float64);
  EXPECT_FALSE(found.plan) << "low precision does no worse";
}

TEST(FloatFault, NamesTheDifferenceThatFloat32Loses) {
  ModelBuilder model;
  model.input("x", {4}).constant("c", {1}, {1e9f});
  model.node("Add", {"x", "c"}, {"a"}).set_name("up");
  model.node("Sub", {"a", "c"}, {"d"}).set_name("down");
  model.node("Neg", {"d"}, {"y"}).set_name("neg");
  const auto found = diagnose(model.output("y").build(), {{1, 2, 3, 4}});
  ASSERT_TRUE(found.float_fault);
  EXPECT_EQ(found.float_fault->name, "down");
  EXPECT_FALSE(found.float_fault->lost);
  EXPECT_NEAR(found.float_fault->part, 1, 1e-6) << "all of it is lost";
}

TEST(FloatFault, IsNoneOfAMaskOfInfiniteValues) {
  ModelBuilder model;
  model.input("x", {2}).constant("mask", {2}, {0, -INFINITY});
  model.node("Add", {"x", "mask"}, {"y"});
  EXPECT_FALSE(diagnose(model.output("y").build(), {{1, 2}}).float_fault);
}

TEST(FloatFault, IsNoneOfInputsThatAreNotFinite) {
  EXPECT_FALSE(diagnose(large_squares(), {{1, NAN}}).float_fault);
}

TEST(FloatFault, IsNoneWhereOnlyLowPrecisionFails) {
  for (const test::Planted planted : test::kAllPlanted) {
    const auto network = test::planted_network(planted, 1);
    const auto found =
        diagnose_network(network.graph, {{"input", network.inputs}}, {.policy = Policy::kNaive});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_TRUE(found->plan);
    EXPECT_FALSE(found->float_fault);
  }
}

// Large numbers that nearly cancel, in whatever order they are added: float32 in place of float64
// would show no error.
TEST(BesideDouble, ComputesSumsInFloat64) {
  const int64_t count = 64;
  std::vector<float> weights, ones(static_cast<size_t>(count), 1);
  double sum = 0;
  for (int64_t i = 1; i < count; ++i) {
    weights.push_back(static_cast<float>(1e8 * std::sin(static_cast<double>(i * i))));
    sum += weights.back();
  }
  weights.push_back(static_cast<float>(-sum));
  const auto lost = [&](ModelBuilder& model, const Shape& shape) {
    Graph graph = model.output("y").build();
    EXPECT_TRUE(infer_and_fold(graph));
    const auto run =
        run_beside_double(graph, {{"x", Tensor::from<float>(shape, std::span<const float>(ones))}});
    EXPECT_TRUE(run) << run.error().message;
    return run ? run->outputs.at("y").part : 0;
  };
  ModelBuilder product;
  product.input("x", {1, count})
      .constant("w", {count, 1}, weights)
      .node("MatMul", {"x", "w"}, {"y"});
  EXPECT_GT(lost(product, {1, count}), 0.5);
}

TEST(BesideDouble, AgreesWhereFloat32IsPreciseEnough) {
  const auto network = test::planted_network(test::Planted::kNone, 3);
  Graph graph = network.graph;
  ASSERT_TRUE(infer_and_fold(graph));
  const auto run = run_beside_double(graph, network.inputs);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->nodes.size(), graph.nodes.size());
  for (const BesideDouble& node : run->nodes) {
    EXPECT_TRUE(node.finite);
    EXPECT_LT(node.part, 1e-5);
  }
  EXPECT_GT(run->nodes.back().part, 0) << "float64 is no float32";
}

// A branch holds float32 constants, to which float64 values cannot be added.
TEST(BesideDouble, TakesFloat32WhereAnOperatorTakesNoOther) {
  ModelBuilder model, branch;
  branch.constant("k", {1}, {0.1f}).node("Add", {"x", "k"}, {"sum"});
  branch.output("sum");
  model.input("c", {}, 9).input("x", {2});
  test::add_if(model, branch.graph(), test::branch("Neg", {"x"}, "neg"));
  const auto run =
      run_beside_double(model.output("y").build(),
                        {{"c", Tensor::scalar(true)}, {"x", Tensor::of<float>({2}, {1, 2})}});
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_EQ(run->outputs.at("y").part, 0);
}

}  // namespace
}  // namespace clvet
