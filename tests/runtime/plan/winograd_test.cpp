// When Winograd's call, or its three, take the place of a convolution.
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/plan/plan_interpreter.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kChannels = 40;

// Two convolutions of 3 x 3, the first of them with a bias and a Relu.
Graph network(int64_t height = 9, int64_t width = 7) {
  test::ModelBuilder model;
  model.input("x", {1, kChannels, height, width});
  model.constant("w1", {kChannels, kChannels, 3, 3}, test::values(kChannels * kChannels * 9));
  model.constant("b1", {kChannels}, test::values(kChannels, 2));
  model.constant("w2", {6, kChannels, 3, 3}, test::values(6 * kChannels * 9, 3));
  model.node("Conv", {"x", "w1", "b1"}, {"c"});
  model.node("Conv", {"c", "w2"}, {"y"});
  model.output("y");
  Graph graph = test::ready(model);
  graph.nodes[0].activation.act = Act::kRelu;
  return graph;
}

bool is_of(const Variant& variant, const char* op) { return variant.manifest->op == op; }

// A convolution of `conv` ms, each of Winograd's three calls of `call` ms and the one in their
// place of `whole` ms, or never tried; all else takes 1 ms.
test::Teller taking(double conv, double call, std::optional<double> whole = {}) {
  return [=](const Variant& variant, const TestShape&) {
    if (is_of(variant, "winograd"))
      return test::Told{whole ? Verdict::kPass : Verdict::kMissing, whole.value_or(0)};
    const bool is_call = is_of(variant, "winograd_in") || is_of(variant, "winograd_out") ||
                         is_of(variant, "gemm_batch");
    return test::Told{Verdict::kPass, is_of(variant, "conv2d") ? conv : is_call ? call : 1};
  };
}

ExecutionPlan plan_from(const Report& report, const Graph& graph, const Combination& combination) {
  auto plan = plan_network_for(graph, *test::chooser_of(report), combination);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : ExecutionPlan();
}

ExecutionPlan plan_by(const test::Teller& tell, const Combination& combination = test::kBuffers,
                      const test::Limits& limits = {}, const Graph& graph = network()) {
  return plan_from(test::timed_report(test::device_with(limits), tell), graph, combination);
}

TEST(WinogradPlan, TakesThePlaceOfAConvolutionThatIsPredictedToBeSlower) {
  const ExecutionPlan plan = plan_by(taking(100, 1));
  EXPECT_THAT(test::kernel_ops(plan), ElementsAre("winograd_in", "gemm_batch", "winograd_out",
                                                  "winograd_in", "gemm_batch", "winograd_out"));
  EXPECT_THAT(plan.fallbacks, IsEmpty());
}

TEST(WinogradPlan, IsOneCallWhereThatIsPredictedToBeTheFastest) {
  const auto ops_of = [](const test::Teller& tell) { return test::kernel_ops(plan_by(tell)); };
  EXPECT_THAT(ops_of(taking(100, 10, 20)), ElementsAre("winograd", "winograd"));
  EXPECT_THAT(ops_of(taking(100, 10, 40)), Contains("winograd_in"));
  EXPECT_THAT(ops_of(taking(100, 60, 20)), ElementsAre("winograd", "winograd"));
  EXPECT_THAT(ops_of(taking(100, 60, 90)), ElementsAre("conv2d", "conv2d"));
}

class WinogradWays : public testing::TestWithParam<std::optional<double>> {};
INSTANTIATE_TEST_SUITE_P(WinogradPlan, WinogradWays, testing::Values(std::nullopt, 1));

TEST_P(WinogradWays, ComputeWhatTheHostComputes) {
  const Graph graph = network();
  const ExecutionPlan plan = plan_by(taking(100, 1, GetParam()));
  const std::map<std::string, Tensor> inputs = {{"x", test::noise({1, kChannels, 9, 7})}};
  const auto table = test::table();
  const DeviceFeatures features = features_of(test::device_with());
  const auto got = test::PlanInterpreter(graph, plan, *table, features).run(inputs);
  const auto want = HostExecutor(graph).run(inputs);
  ASSERT_TRUE(want) << want.error().message;
  for (const auto& [name, tensor] : want->outputs) test::expect_near(got.at(name), tensor, 1e-4);
}

TEST(WinogradPlan, HasToSaveTimeAndToBeTimed) {
  EXPECT_THAT(test::kernel_ops(plan_by(taking(1, 100))), ElementsAre("conv2d", "conv2d"));
  EXPECT_THAT(test::kernel_ops(plan_by(taking(100, 0))), ElementsAre("conv2d", "conv2d"));
  EXPECT_THAT(test::kernel_ops(plan_by(taking(0, 1))), ElementsAre("conv2d", "conv2d"));
}

// Of 300 x 300 pixels, 40 channels and 16 products for 4 of them some 58 MB go there and back.
TEST(WinogradPlan, IsLeftOutWhereAProcessorsMemoryIsTooSlowForWhatItsCallsHandOn) {
  const auto first_of = [](int64_t size, double gbs) {
    DeviceReport device = test::device_with();
    device.type = "cpu";
    device.peaks.bandwidth_gbs = gbs;
    const Report report = test::timed_report(device, taking(100, 10));
    return test::kernel_ops(plan_from(report, network(size, size), test::kBuffers)).front();
  };
  EXPECT_EQ(first_of(300, 100), "winograd_in");
  EXPECT_EQ(first_of(300, 1), "conv2d");
  EXPECT_EQ(first_of(9, 1), "winograd_in") << "what the caches hold is not read from memory";
}

TEST(WinogradPlan, IsLeftOutWithoutAFallbackWhereOneOfItsKernelsIsNotShownToBeRight) {
  for (const char* op : {"winograd_in", "gemm_batch", "winograd_out"}) {
    for (const Verdict verdict : {Verdict::kWrong, Verdict::kCrash, Verdict::kMissing}) {
      const ExecutionPlan plan = plan_by([&](const Variant& variant, const TestShape& shape) {
        return is_of(variant, op) ? test::Told{verdict} : taking(100, 1)(variant, shape);
      });
      EXPECT_THAT(test::kernel_ops(plan), ElementsAre("conv2d", "conv2d"));
      EXPECT_THAT(plan.fallbacks, IsEmpty());
    }
  }
}

TEST(WinogradPlan, IsLeftOutBelowHigh) {
  for (Combination half : {test::kBuffers, test::kImages}) {
    half.precision = Precision::kNormal;
    EXPECT_THAT(test::kernel_ops(plan_by(taking(100, 1), half)), ElementsAre("conv2d", "conv2d"));
  }
}

TEST(WinogradPlan, HandsImagesOnWhereTheNodeHasImages) {
  const ExecutionPlan plan = plan_by(taking(100, 1), test::kImages);
  EXPECT_THAT(test::kernel_ops(plan), Contains("gemm_batch"));
  for (const DeviceTensor& tensor : plan.tensors) EXPECT_EQ(tensor.storage, Storage::kImage);
}

TEST(WinogradPlan, IsLeftOutWhereWeightsAreLevels) {
  Graph graph = network();
  for (Node& node : graph.nodes) node.has_level_weights = true;
  EXPECT_THAT(test::kernel_ops(plan_by(taking(100, 1), test::kBuffers, {}, graph)),
              ElementsAre("conv2d", "conv2d"));
}

// Of the first convolution, the products have weights of 16 * 40 * 48 floats, and 16 * 4 * 3 pixels
// of 40 channels are handed on twice.
TEST(WinogradPlan, IsLeftOutWhereMemoryIsShortForIt) {
  const test::Limits small_buffers{.largest = std::to_string(16 * 40 * 48 * 4 - 1)};
  const test::Limits little_memory{.memory = std::to_string(8 * 2 * 16 * 12 * 40 * 4 - 8)};
  for (const test::Limits& limits : {small_buffers, little_memory}) {
    EXPECT_THAT(test::kernel_ops(plan_by(taking(100, 1), test::kBuffers, limits)),
                ElementsAre("conv2d", "winograd_in", "gemm_batch", "winograd_out"));
  }
}

TEST_P(WinogradWays, AreFoundAgainInAGivenPlan) {
  const Graph graph = network();
  const Report report = test::timed_report(test::device_with(), taking(100, 1, GetParam()));
  const auto chooser = test::chooser_of(report);
  auto plan = plan_network_for(graph, *chooser, test::kBuffers);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_TRUE(check_network_plan(graph, *chooser, *plan));
  auto& steps = plan->phases.front().steps;
  const auto products =
      std::ranges::find(steps, std::string(GetParam() ? "winograd" : "gemm_batch"), &PlanStep::op);
  ASSERT_NE(products, steps.end());
  steps.erase(products);
  EXPECT_FALSE(check_network_plan(graph, *chooser, *plan));
}

}  // namespace
}  // namespace clvet
