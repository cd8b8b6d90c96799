// When another kernel takes the place of the calls of a node.
#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

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
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

constexpr int64_t kChannels = 10, kHidden = 6;

Graph for_device(const test::ModelBuilder& model) {
  Graph graph = test::ready(model);
  EXPECT_TRUE(optimise(graph));
  EXPECT_TRUE(expand_composites(graph));
  return graph;
}

// Of two images; a Relu behind it, which is fused.
Graph squeeze() {
  test::ModelBuilder model;
  model.input("x", {2, kChannels, 5, 3});
  model.constant("w1", {kHidden, kChannels, 1, 1}, test::values(kChannels * kHidden));
  model.constant("b1", {kHidden}, test::values(kHidden, 2));
  model.constant("w2", {kChannels, kHidden, 1, 1}, test::values(kChannels * kHidden, 3));
  model.node("GlobalAveragePool", {"x"}, {"mean"});
  model.node("Conv", {"mean", "w1", "b1"}, {"squeezed"});
  model.node("Relu", {"squeezed"}, {"hidden"});
  model.node("Conv", {"hidden", "w2"}, {"excited"});
  model.node("Sigmoid", {"excited"}, {"gate"});
  model.node("Mul", {"x", "gate"}, {"product"});
  model.node("Relu", {"product"}, {"y"});
  model.output("y");
  return for_device(model);
}

Graph residual() {
  test::ModelBuilder model;
  model.input("x", {2, kChannels, 5, 3}).input("z", {2, kHidden, 5, 3});
  model.constant("w", {kHidden, kChannels, 1, 1}, test::values(kChannels * kHidden));
  model.constant("b", {kHidden}, test::values(kHidden, 2));
  model.node("Conv", {"x", "w", "b"}, {"c"});
  model.node("Add", {"z", "c"}, {"s"});
  model.node("Relu", {"s"}, {"y"});
  model.output("y");
  return for_device(model);
}

// Of two images, with an uneven border, steps of two lines and a Relu behind each.
test::ModelBuilder pair_of(bool adds) {
  test::ModelBuilder model;
  model.input("x", {2, kChannels, 5, 3});
  if (adds) model.input("z", {2, kHidden, 3, 4});
  model.constant("w1", {kChannels, 1, 3, 3}, test::values(kChannels * 9));
  model.constant("b1", {kChannels}, test::values(kChannels, 2));
  model.constant("w2", {kHidden, kChannels, 1, 1}, test::values(kHidden * kChannels, 3));
  model.constant("b2", {kHidden}, test::values(kHidden, 4));
  onnx::NodeProto& conv = model.node("Conv", {"x", "w1", "b1"}, {"d"});
  test::set_int(conv, "group", kChannels);
  test::set_ints(conv, "pads", {1, 2, 1, 1});
  test::set_ints(conv, "strides", {2, 1});
  model.node("Relu", {"d"}, {"middle"});
  model.node("Conv", {"middle", "w2", "b2"}, {"p"});
  if (adds) model.node("Add", {"z", "p"}, {"s"});
  model.node("Relu", {adds ? "s" : "p"}, {"y"});
  model.output("y");
  return model;
}

// Of two images with three planes each.
Graph first_layer() {
  test::ModelBuilder model;
  model.input("x", {2, 3, 6, 8});
  model.constant("w", {kHidden, 3, 3, 3}, test::values(kHidden * 27));
  model.constant("b", {kHidden}, test::values(kHidden, 2));
  onnx::NodeProto& conv = model.node("Conv", {"x", "w", "b"}, {"c"});
  test::set_ints(conv, "pads", {1, 0, 1, 1});
  test::set_ints(conv, "strides", {2, 2});
  model.node("Relu", {"c"}, {"y"});
  model.output("y");
  return for_device(model);
}

// Of two images, with steps of two lines, an uneven border and a Relu behind each.
Graph fire() {
  constexpr int64_t kPixels = 64;
  test::ModelBuilder model;
  model.input("x", {2, kChannels, 5, 4});
  model.constant("w1", {kPixels, kChannels, 1, 1}, test::values(kPixels * kChannels));
  model.constant("b1", {kPixels}, test::values(kPixels, 2));
  model.constant("w2", {kHidden, kChannels, 3, 2}, test::values(kHidden * kChannels * 6, 3));
  model.constant("b2", {kHidden}, test::values(kHidden, 4));
  test::set_ints(model.node("Conv", {"x", "w1", "b1"}, {"p"}), "strides", {2, 1});
  onnx::NodeProto& window = model.node("Conv", {"x", "w2", "b2"}, {"w"});
  test::set_ints(window, "pads", {1, 0, 1, 1});
  test::set_ints(window, "strides", {2, 1});
  model.node("Relu", {"p"}, {"pr"});
  model.node("Relu", {"w"}, {"wr"});
  test::set_int(model.node("Concat", {"pr", "wr"}, {"y"}), "axis", 1);
  model.output("y");
  return for_device(model);
}

Graph depthwise_pair() { return for_device(pair_of(false)); }
Graph depthwise_residual() { return for_device(pair_of(true)); }

struct Case {
  const char* name;
  Graph (*network)();
  std::string whole;               // the op of one launch
  std::vector<std::string> parts;  // those of several
};

class OneLaunch : public testing::TestWithParam<Case> {
 protected:
  // The kernel of one launch takes `ms`, all else 1 ms.
  test::Teller taking(double ms) const {
    return [=, this](const Variant& variant, const TestShape&) {
      return test::Told{Verdict::kPass, is_whole(variant) ? ms : 1};
    };
  }
  bool is_whole(const Variant& variant) const { return variant.manifest->op == GetParam().whole; }

  ExecutionPlan plan_by(const test::Teller& tell,
                        const Combination& combination = test::kBuffers) const {
    const Report report = test::timed_report(test::device_with(), tell);
    auto plan = plan_network_for(graph_, *test::chooser_of(report), combination);
    EXPECT_TRUE(plan) << plan.error().message;
    return plan ? *plan : ExecutionPlan();
  }

  const Graph graph_ = GetParam().network();
};

INSTANTIATE_TEST_SUITE_P(
    Nodes, OneLaunch,
    testing::Values(
        Case{"SqueezeExcite",
             squeeze,
             "squeeze_excite",
             {"pool_global", "gemm", "gemm", "eltwise_binary"}},
        Case{"ConvAdd", residual, "gemm_add", {"gemm", "eltwise_binary"}},
        Case{"FirstLayer", first_layer, "conv2d_planes", {"conv2d"}},
        Case{"ConvBranches", fire, "conv2d_branches", {"conv2d", "conv2d", "concat"}},
        Case{"DepthwisePair", depthwise_pair, "depthwise_gemm", {"depthwise", "gemm"}},
        Case{"DepthwiseResidual", depthwise_residual, "depthwise_gemm", {"depthwise", "gemm_add"}}),
    [](const auto& info) { return info.param.name; });

TEST_P(OneLaunch, IsTakenWhereItIsPredictedToBeFaster) {
  const ExecutionPlan plan = plan_by(taking(0.5));
  EXPECT_THAT(test::kernel_ops(plan), ElementsAre(GetParam().whole));
  EXPECT_THAT(plan.fallbacks, IsEmpty());
}

TEST_P(OneLaunch, IsLeftOutWhereThatKernelIsSlowerOrNotTimedOrWrong) {
  const auto parts = ElementsAreArray(GetParam().parts);
  EXPECT_THAT(test::kernel_ops(plan_by(taking(50))), parts);
  EXPECT_THAT(test::kernel_ops(plan_by(taking(0))), parts);
  const ExecutionPlan wrong = plan_by([&](const Variant& variant, const TestShape& shape) {
    return is_whole(variant) ? test::Told{Verdict::kWrong} : taking(1)(variant, shape);
  });
  EXPECT_THAT(test::kernel_ops(wrong), parts);
  EXPECT_THAT(wrong.fallbacks, IsEmpty());
}

TEST_P(OneLaunch, IsWhatAPlanSaysAndSoAreTheSeveral) {
  const test::Teller slow_sums = [&](const Variant& variant, const TestShape& shape) {
    const bool is_sum = variant.manifest->op == "gemm_add";
    return is_sum ? test::Told{Verdict::kPass, 50} : taking(50)(variant, shape);
  };
  for (const test::Teller& tell : {taking(0.5), taking(50), slow_sums}) {
    const Report report = test::timed_report(test::device_with(), tell);
    const auto chooser = test::chooser_of(report);
    const ExecutionPlan plan = plan_by(tell);
    const Status same = check_network_plan(graph_, *chooser, plan);
    EXPECT_TRUE(same) << same.error().message;
  }
}

TEST_P(OneLaunch, ComputesWhatTheHostComputesAndSoDoTheSeveral) {
  std::map<std::string, Tensor> inputs;
  for (const ValueId input : graph_.inputs) {
    const Value& value = graph_.values[static_cast<size_t>(input)];
    inputs.emplace(value.name, test::noise(*value.shape));
  }
  const auto want = HostExecutor(graph_).run(inputs);
  ASSERT_TRUE(want) << want.error().message;
  const auto table = test::table();
  const DeviceFeatures features = features_of(test::device_with());
  for (const double ms : {0.5, 50.0}) {
    for (const Combination& combination : {test::kBuffers, test::kImages}) {
      const ExecutionPlan plan = plan_by(taking(ms), combination);
      const auto got = test::PlanInterpreter(graph_, plan, *table, features).run(inputs);
      for (const auto& [name, tensor] : want->outputs)
        test::expect_near(got.at(name), tensor, 1e-5);
    }
  }
}

}  // namespace
}  // namespace clvet
