// Weights of a quantised network that stay int8 on a device.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/infer/infer.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/plan/plan_interpreter.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using test::chooser_that;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ValueId added(Graph& graph, const std::string& op, std::vector<ValueId> inputs,
              Attributes attributes = {}) {
  Node node = test::make_node(op, inputs.size(), std::move(attributes));
  node.name = graph.unique_name(op);
  node.inputs = std::move(inputs);
  node.outputs = {graph.add_value(graph.unique_name("v"))};
  graph.nodes.push_back(node);
  return node.outputs[0];
}

// A scale for each index of an axis.
ValueId dequantised(Graph& graph, const Shape& shape, int64_t axis) {
  const auto count = static_cast<size_t>(elements_of(shape));
  std::vector<int8_t> levels(count);
  for (size_t i = 0; i < count; ++i) levels[i] = static_cast<int8_t>(i * 89 % 255 - 127);
  std::vector<float> scales;
  const int64_t extent = shape[static_cast<size_t>(axis)];
  for (int64_t i = 0; i < extent; ++i) scales.push_back(0.01F + 0.001F * static_cast<float>(i));
  const ValueId w = graph.add_constant(graph.unique_name("w"),
                                       Tensor::from(shape, std::span<const int8_t>(levels)));
  const ValueId s = graph.add_constant(graph.unique_name("s"),
                                       Tensor::from({extent}, std::span<const float>(scales)));
  return added(graph, "DequantizeLinear", {w, s}, {{"axis", axis}});
}

// Conv of 3 x 3, then a product of each position, both by levels; then one by floats.
Graph network() {
  Graph graph;
  const ValueId x = graph.add_value("x");
  graph.values.back().dtype = DType::kF32;
  graph.values.back().shape = Shape{1, 5, 6, 7};
  graph.inputs = {x};
  const ValueId conv = added(graph, "Conv", {x, dequantised(graph, {4, 5, 3, 3}, 0)});
  const ValueId product = added(graph, "MatMul", {conv, dequantised(graph, {5, 6}, 1)});
  const ValueId floats = graph.add_constant("floats", test::noise({6, 3}));
  graph.outputs = {added(graph, "MatMul", {product, floats})};
  EXPECT_TRUE(infer_and_fold(graph));
  EXPECT_TRUE(expand_composites(graph));
  return graph;
}

// "conv2d int8", ...: the types of weights that the calls read.
std::vector<std::string> weights_of(const ExecutionPlan& plan) {
  std::vector<std::string> types;
  for (const PlanStep& step : plan.phases.front().steps) {
    if (step.constants.contains("w"))
      types.push_back(step.op + " " + step.variant.substr(step.variant.rfind('/') + 1));
  }
  return types;
}

bool is_int8(const Variant& variant) { return variant.weight_type == WeightType::kInt8; }

TEST(LevelWeights, StayInt8WhereKernelsThatReadThemAreRight) {
  const Graph graph = network();
  const auto plan = plan_network(graph, *chooser_that(test::all_pass), {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(weights_of(*plan), ElementsAre("conv2d int8", "gemm int8", "gemm float"));
  EXPECT_EQ(plan->combination.memory, Memory::kLow);
  EXPECT_THAT(plan->fallbacks, IsEmpty());
  const std::map<std::string, Tensor> inputs = {{"x", test::noise({1, 5, 6, 7})}};
  const auto table = test::table();
  const DeviceFeatures features = features_of(test::device_with());
  const auto got = test::PlanInterpreter(graph, *plan, *table, features).run(inputs);
  const auto want = HostExecutor(graph).run(inputs);
  ASSERT_TRUE(want) << want.error().message;
  for (const auto& [name, tensor] : want->outputs) test::expect_near(got.at(name), tensor);
}

TEST(LevelWeights, AreFloatsWithoutAFallbackWhereNoSuchKernelIsRight) {
  for (const Verdict verdict : {Verdict::kWrong, Verdict::kMissing, Verdict::kUnsupported}) {
    const auto chooser = chooser_that(
        [&](const Variant& variant) { return is_int8(variant) ? verdict : Verdict::kPass; });
    for (const auto& memory : {std::optional<Memory>(), std::optional(Memory::kLow)}) {
      PlanOverrides words;
      words.memory = memory;
      const auto plan = plan_network(network(), *chooser, words);
      ASSERT_TRUE(plan) << plan.error().message;
      EXPECT_THAT(weights_of(*plan), Each(HasSubstr("float")));
      EXPECT_EQ(plan->combination.memory, Memory::kNormal);
      EXPECT_THAT(plan->fallbacks, IsEmpty());
    }
  }
}

TEST(LevelWeights, AreFloatsWhereInt8IsMuchSlowerUnlessMemoryLowIsAskedFor) {
  const auto plan_of = [](double slower, std::optional<Memory> memory) {
    const auto tell = [&](const Variant& variant, const TestShape&) {
      return test::Told{Verdict::kPass, is_int8(variant) ? slower : 1.0};
    };
    PlanOverrides words;
    words.memory = memory;
    const auto plan = plan_network(
        network(), *test::chooser_of(test::timed_report(test::device_with(), tell)), words);
    EXPECT_TRUE(plan) << plan.error().message;
    return weights_of(*plan);
  };
  using testing::Contains;
  EXPECT_THAT(plan_of(1.1, {}), Contains("conv2d int8"));
  EXPECT_THAT(plan_of(2, {}), Each(HasSubstr("float")));
  EXPECT_THAT(plan_of(2, Memory::kLow), Contains("conv2d int8"));
  EXPECT_THAT(plan_of(0.5, Memory::kNormal), Each(HasSubstr("float")));
}

TEST(LevelWeights, AreFloatsBelowHigh) {
  Combination half = test::kBuffers;
  half.precision = Precision::kNormal;
  const auto plan = plan_network_for(network(), *chooser_that(test::all_pass), half);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(weights_of(*plan), Each(HasSubstr("float")));
}

TEST(LevelWeights, LieWhereTheWordsSay) {
  for (const Storage storage : {Storage::kBuffer, Storage::kImage}) {
    PlanOverrides words;
    words.precision = Precision::kHigh;
    words.weights = storage;
    const auto plan = plan_network(network(), *chooser_that(test::all_pass), words);
    ASSERT_TRUE(plan) << plan.error().message;
    for (const PlanStep& step : plan->phases.front().steps) {
      if (!step.constants.contains("w")) continue;
      const std::string where = std::string("/") + to_string(storage) + "/int8";
      EXPECT_THAT(step.variant, testing::AnyOf(HasSubstr(where), HasSubstr("/float")));
    }
    EXPECT_EQ(weights_of(*plan).front(), "conv2d int8");
  }
}

TEST(LevelWeights, OfAGivenPlanMustBeLevelsOfTheNetwork) {
  const auto chooser = chooser_that(test::all_pass);
  Graph graph = network();
  auto plan = plan_network(graph, *chooser, {});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(check_network_plan(graph, *chooser, *plan));
  for (Node& node : graph.nodes) node.has_level_weights = false;
  const Status status = check_network_plan(graph, *chooser, *plan);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(status.error().message, HasSubstr("does not support this call"));
}

TEST(LevelWeights, OfAGivenPlanAreNotReadInAnotherType) {
  const auto chooser = chooser_that(test::all_pass);
  const Graph graph = network();
  auto plan = plan_network(graph, *chooser, {});
  ASSERT_TRUE(plan) << plan.error().message;
  for (PlanStep& step : plan->phases.front().steps) {
    const size_t end = step.op == "gemm" ? step.variant.rfind("int8") : std::string::npos;
    if (end != std::string::npos) step.variant.replace(end, 4, "int4");
  }
  const Status status = check_network_plan(graph, *chooser, *plan);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace clvet
