// When one kernel takes the place of a convolution by single pixels and the sum behind it.
#include <gmock/gmock.h>

#include <cstdint>
#include <map>
#include <string>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
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

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr int64_t kChannels = 10, kFilters = 6;

// Of two images; a Relu behind it, which is fused.
Graph network() {
  test::ModelBuilder model;
  model.input("x", {2, kChannels, 5, 3}).input("z", {2, kFilters, 5, 3});
  model.constant("w", {kFilters, kChannels, 1, 1}, test::values(kChannels * kFilters));
  model.constant("b", {kFilters}, test::values(kFilters, 2));
  model.node("Conv", {"x", "w", "b"}, {"c"});
  model.node("Add", {"z", "c"}, {"s"});
  model.node("Relu", {"s"}, {"y"});
  model.output("y");
  Graph graph = test::ready(model);
  EXPECT_TRUE(optimise(graph));
  EXPECT_TRUE(expand_composites(graph));
  return graph;
}

// gemm_add takes `ms`, all else 1 ms.
test::Teller taking(double ms) {
  return [=](const Variant& variant, const TestShape&) {
    return test::Told{Verdict::kPass, variant.manifest->op == "gemm_add" ? ms : 1};
  };
}

ExecutionPlan plan_by(const test::Teller& tell, const Combination& combination = test::kBuffers) {
  const Report report = test::timed_report(test::device_with(), tell);
  auto plan = plan_network_for(network(), *test::chooser_of(report), combination);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? *plan : ExecutionPlan();
}

TEST(ResidualPlan, TakesOneKernelWhereItIsPredictedToBeFaster) {
  const ExecutionPlan plan = plan_by(taking(1));
  EXPECT_THAT(test::kernel_ops(plan), ElementsAre("gemm_add"));
  EXPECT_THAT(plan.fallbacks, IsEmpty());
}

TEST(ResidualPlan, TakesTwoWhereThatKernelIsSlowerOrNotTimedOrWrong) {
  const auto two = ElementsAre("gemm", "eltwise_binary");
  EXPECT_THAT(test::kernel_ops(plan_by(taking(50))), two);
  EXPECT_THAT(test::kernel_ops(plan_by(taking(0))), two);
  const ExecutionPlan wrong = plan_by([](const Variant& variant, const TestShape& shape) {
    const bool is_it = variant.manifest->op == "gemm_add";
    return is_it ? test::Told{Verdict::kWrong} : taking(1)(variant, shape);
  });
  EXPECT_THAT(test::kernel_ops(wrong), two);
  EXPECT_THAT(wrong.fallbacks, IsEmpty());
}

TEST(ResidualPlan, ComputesWhatTheHostComputesEitherWay) {
  const Graph graph = network();
  const std::map<std::string, Tensor> inputs = {{"x", test::noise({2, kChannels, 5, 3})},
                                                {"z", test::noise({2, kFilters, 5, 3})}};
  const auto want = HostExecutor(graph).run(inputs);
  ASSERT_TRUE(want) << want.error().message;
  const auto table = test::table();
  const DeviceFeatures features = features_of(test::device_with());
  for (const double ms : {1.0, 50.0}) {
    for (const Combination& combination : {test::kBuffers, test::kImages}) {
      const ExecutionPlan plan = plan_by(taking(ms), combination);
      const auto got = test::PlanInterpreter(graph, plan, *table, features).run(inputs);
      for (const auto& [name, tensor] : want->outputs)
        test::expect_near(got.at(name), tensor, 1e-5);
    }
  }
}

}  // namespace
}  // namespace clvet
