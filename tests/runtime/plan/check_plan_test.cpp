// A plan that does not follow from its own variants is refused.
#include <gmock/gmock.h>

#include <climits>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/variant_choice.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const Graph& network() {
  static const Graph graph = test::mixed_network();
  return graph;
}

// But for one kernel, everything is right.
const VariantChooser& chooser() {
  static const auto chooser = test::chooser_that([](const Variant& variant) {
    return variant.manifest->id == "conv2d_tile8x32" ? Verdict::kWrong : Verdict::kPass;
  });
  return *chooser;
}

ExecutionPlan plan_for(const Combination& combination = test::kBuffers) {
  auto plan = plan_network_for(network(), chooser(), combination);
  EXPECT_TRUE(plan);
  return plan ? *plan : ExecutionPlan();
}

std::vector<PlanStep>& steps(ExecutionPlan& plan) { return plan.phases[0].steps; }

// The first kernel of this op.
PlanStep& kernel(ExecutionPlan& plan, const std::string& op) {
  for (PlanStep& step : steps(plan)) {
    if (step.op == op) return step;
  }
  ADD_FAILURE() << "no kernel of " << op;
  return steps(plan)[0];
}

PlannedNode& node(ExecutionPlan& plan, const std::string& name) {
  return const_cast<PlannedNode&>(test::node_of(plan, name));
}

size_t index_of(const ExecutionPlan& plan, StepKind kind) {
  const auto& steps = plan.phases[0].steps;
  size_t i = 0;
  while (i < steps.size() && steps[i].kind != kind) ++i;
  return i;
}

struct Forgery {
  const char* name;
  std::function<void(ExecutionPlan&)> forge;
};

std::vector<Forgery> forgeries() {
  return {
      {"a dim", [](ExecutionPlan& p) { ++kernel(p, "conv2d").dims["OC"]; }},
      {"a dim more", [](ExecutionPlan& p) { kernel(p, "conv2d").dims["more"] = 1; }},
      {"a huge dim", [](ExecutionPlan& p) { kernel(p, "gemm").dims["M"] = INT64_MAX; }},
      {"no dims", [](ExecutionPlan& p) { kernel(p, "gemm").dims.clear(); }},
      {"a scalar", [](ExecutionPlan& p) { kernel(p, "conv2d").scalars["act_lo"] += 1; }},
      {"an op", [](ExecutionPlan& p) { kernel(p, "gemm").op = "bmm"; }},
      {"an extent", [](ExecutionPlan& p) { ++p.tensors[0].extent.h; }},
      {"a huge extent", [](ExecutionPlan& p) { p.tensors[0].extent.c = INT64_MAX; }},
      {"a shape", [](ExecutionPlan& p) { p.tensors[1].shape.push_back(1); }},
      {"a value", [](ExecutionPlan& p) { p.tensors[1].value = "y"; }},
      {"a view", [](ExecutionPlan& p) { p.tensors[1].view = View::kChannelsLast; }},
      {"row numbers", [](ExecutionPlan& p) { p.tensors[0].row_numbers = 4; }},
      {"rows", [](ExecutionPlan& p) { p.tensors[0].rows = TensorRows::kOfText; }},
      {"a constant", [](ExecutionPlan& p) { p.tensors[0].constant = true; }},
      {"a storage", [](ExecutionPlan& p) { p.tensors[0].storage = Storage::kImage; }},
      {"halves", [](ExecutionPlan& p) { p.tensors[0].half = true; }},
      {"a slot", [](ExecutionPlan& p) { p.tensors[1].slot = p.tensors[0].slot; }},
      {"a slot out of range", [](ExecutionPlan& p) { p.tensors[1].slot = 1000; }},
      {"no slot", [](ExecutionPlan& p) { p.tensors[1].slot = -1; }},
      {"an alias", [](ExecutionPlan& p) { p.tensors[1].alias = 0; }},
      {"an alias out of range", [](ExecutionPlan& p) { p.tensors[0].alias = INT_MAX; }},
      {"smaller slots", [](ExecutionPlan& p) { --p.slot_bytes[0]; }},
      {"no slots", [](ExecutionPlan& p) { p.slot_bytes.clear(); }},
      {"no tensors", [](ExecutionPlan& p) { p.tensors.clear(); }},
      {"a recipe's node", [](ExecutionPlan& p) { p.constants[0].node = 5; }},
      {"a recipe's source",
       [](ExecutionPlan& p) { p.constants[0].source = ConstantSource::kMatrix; }},
      {"a recipe's name", [](ExecutionPlan& p) { p.constants[0].name = "bias"; }},
      {"a recipe's part", [](ExecutionPlan& p) { ++p.constants[0].part; }},
      {"a recipe less", [](ExecutionPlan& p) { p.constants.pop_back(); }},
      {"swapped tensors",
       [](ExecutionPlan& p) {
         auto& tensors = kernel(p, "conv2d").tensors;
         std::swap(tensors["x"], tensors["y"]);
       }},
      {"a tensor out of range", [](ExecutionPlan& p) { kernel(p, "gemm").tensors["x"] = 99; }},
      {"a negative tensor", [](ExecutionPlan& p) { kernel(p, "gemm").tensors["x"] = -7; }},
      {"a tensor more", [](ExecutionPlan& p) { kernel(p, "gemm").tensors["z"] = 0; }},
      {"swapped constants",
       [](ExecutionPlan& p) {
         auto& constants = kernel(p, "conv2d").constants;
         std::swap(constants["w"], constants["bias"]);
       }},
      {"a huge constant", [](ExecutionPlan& p) { kernel(p, "gemm").constants["w"] = INT_MAX; }},
      {"a step less", [](ExecutionPlan& p) { steps(p).pop_back(); }},
      {"a kernel less",
       [](ExecutionPlan& p) {
         steps(p).erase(steps(p).begin() + static_cast<long>(index_of(p, StepKind::kKernel)));
       }},
      {"a step twice", [](ExecutionPlan& p) { steps(p).insert(steps(p).begin(), steps(p)[0]); }},
      {"a kernel twice", [](ExecutionPlan& p) { steps(p).push_back(kernel(p, "gemm")); }},
      {"steps in another order", [](ExecutionPlan& p) { std::swap(steps(p)[0], steps(p)[1]); }},
      {"no steps", [](ExecutionPlan& p) { steps(p).clear(); }},
      {"an upload of another tensor", [](ExecutionPlan& p) { steps(p)[0].tensor = 1; }},
      {"an upload out of range", [](ExecutionPlan& p) { steps(p)[0].tensor = INT_MIN; }},
      {"an upload as a download", [](ExecutionPlan& p) { steps(p)[0].kind = StepKind::kDownload; }},
      {"a host node out of range",
       [](ExecutionPlan& p) { steps(p)[index_of(p, StepKind::kHost)].node = 1000; }},
      {"a kernel of another node", [](ExecutionPlan& p) { kernel(p, "gemm").node = 0; }},
      {"a kernel of no node", [](ExecutionPlan& p) { kernel(p, "gemm").node = -1; }},
      {"a kernel of a node out of range",
       [](ExecutionPlan& p) { kernel(p, "gemm").node = INT_MAX; }},
      {"a device node on the host",
       [](ExecutionPlan& p) { node(p, "Conv_c1").place = Place::kHost; }},
      {"a host node on the device",
       [](ExecutionPlan& p) { node(p, "IsNaN_h_bool").place = Place::kDevice; }},
      {"a host node as an alias",
       [](ExecutionPlan& p) { node(p, "IsNaN_h_bool").place = Place::kAlias; }},
      {"a kernel as an alias", [](ExecutionPlan& p) { node(p, "Conv_c1").place = Place::kAlias; }},
      {"an alias on the device",
       [](ExecutionPlan& p) { node(p, "Transpose_t").place = Place::kDevice; }},
      {"an alias on the host",
       [](ExecutionPlan& p) { node(p, "Transpose_t").place = Place::kHost; }},
      {"another node's name", [](ExecutionPlan& p) { p.phases[0].nodes[0].name = "other"; }},
      {"another node's op", [](ExecutionPlan& p) { p.phases[0].nodes[0].op = "Relu"; }},
      {"a node less", [](ExecutionPlan& p) { p.phases[0].nodes.pop_back(); }},
      {"a node more", [](ExecutionPlan& p) { p.phases[0].nodes.push_back(p.phases[0].nodes[0]); }},
      {"a phase more", [](ExecutionPlan& p) { p.phases.push_back(p.phases[0]); }},
      {"no phase", [](ExecutionPlan& p) { p.phases.clear(); }},
      {"a phase's name", [](ExecutionPlan& p) { p.phases[0].name = "token"; }},
      {"an unknown variant", [](ExecutionPlan& p) { kernel(p, "gemm").variant = "gemm_best"; }},
      {"a variant of another op",
       [](ExecutionPlan& p) { kernel(p, "gemm").variant = kernel(p, "conv2d").variant; }},
      {"a variant that is wrong",
       [](ExecutionPlan& p) {
         kernel(p, "conv2d").variant = "conv2d_tile8x32/high/normal/buffer/buffer/float";
       }},
      {"a variant that stores in images",
       [](ExecutionPlan& p) {
         kernel(p, "conv2d").variant = "conv2d_tile4x4/high/normal/image/buffer/float";
       }},
      {"a variant that stores halves",
       [](ExecutionPlan& p) {
         kernel(p, "conv2d").variant = "conv2d_tile4x4/normal/normal/buffer/buffer/float";
       }},
      {"a variant for quantised weights",
       [](ExecutionPlan& p) {
         kernel(p, "gemm").variant = "gemm_tile4x4/high/low/buffer/buffer/int8";
       }},
  };
}

TEST(CheckNetworkPlan, AcceptsEveryPlanThatWasMade) {
  for (const Combination& one : combinations_of({}, {.image_activations = true})) {
    const auto plan = plan_network_for(network(), chooser(), one);
    if (!plan) continue;
    const Status status = check_network_plan(network(), chooser(), *plan);
    EXPECT_TRUE(status) << to_string(one) << ": " << status.error().message;
  }
}

TEST(CheckNetworkPlan, RefusesEachForgeryInOneLine) {
  for (const Forgery& row : forgeries()) {
    ExecutionPlan plan = plan_for();
    row.forge(plan);
    const Status status = check_network_plan(network(), chooser(), plan);
    ASSERT_FALSE(status) << row.name;
    EXPECT_EQ(status.error().code, ErrorCode::kInvalidArgument)
        << row.name << ": " << status.error().message;
    EXPECT_THAT(status.error().message, AllOf(Not(""), Not(HasSubstr("\n")))) << row.name;
  }
}

TEST(CheckNetworkPlan, SaysWhereAPlanDiffers) {
  const std::vector<std::pair<Forgery, std::string>> rows = {
      {{"", [](ExecutionPlan& p) { ++p.tensors[1].extent.h; }}, "tensors[1]"},
      {{"", [](ExecutionPlan& p) { ++kernel(p, "conv2d").dims["OC"]; }}, "phases[0].steps[1]"},
      {{"", [](ExecutionPlan& p) { p.slot_bytes[0] += 4; }}, "slot_bytes[0]"},
      {{"", [](ExecutionPlan& p) { ++p.constants[0].part; }}, "constants[0]"},
      {{"", [](ExecutionPlan& p) { p.phases[0].name = "token"; }}, "phases[0].name"},
      {{"", [](ExecutionPlan& p) { p.phases[0].nodes[0].name = "a"; }}, "phases[0].nodes[0]"},
      {{"", [](ExecutionPlan& p) { p.slot_bytes.push_back(4); }}, "slot_bytes has"},
      {{"", [](ExecutionPlan& p) { node(p, "Transpose_t").place = Place::kDevice; }},
       "node 'Transpose_t' has no kernel"},
      {{"", [](ExecutionPlan& p) { p.phases.clear(); }}, "does not have the 9 nodes"},
  };
  for (const auto& [forgery, where] : rows) {
    ExecutionPlan plan = plan_for();
    forgery.forge(plan);
    const Status status = check_network_plan(network(), chooser(), plan);
    ASSERT_FALSE(status) << where;
    EXPECT_THAT(status.error().message, HasSubstr(where));
  }
}

TEST(CheckNetworkPlan, IsNotAboutPredictionsAndReasons) {
  ExecutionPlan plan = plan_for();
  plan.phases[0].ms = 77;
  plan.phases[0].nodes[0].ms = 5;
  plan.phases[0].nodes[2].reason = "so";
  steps(plan)[0].ms = 9;
  plan.refused.clear();
  EXPECT_TRUE(check_network_plan(network(), chooser(), plan));
}

TEST(CheckNetworkPlan, AcceptsAnotherVouchedVariantThatStoresAlike) {
  ExecutionPlan plan = plan_for();
  const std::vector<std::string> all = {"gemm_local64/high/normal/buffer/buffer/float",
                                        "gemm_tile4x4/high/normal/buffer/buffer/float",
                                        "gemm_tile8x32/high/normal/buffer/buffer/float"};
  std::string& variant = kernel(plan, "gemm").variant;
  ASSERT_THAT(all, testing::Contains(variant));
  for (const std::string& other : all) {
    variant = other;
    const Status status = check_network_plan(network(), chooser(), plan);
    EXPECT_TRUE(status) << status.error().message;
  }
}

TEST(CheckNetworkPlan, RefusesCopiesThatAreNotOnes) {
  const auto refuse = [](const std::function<void(PlanStep&)>& change) {
    const auto right = test::chooser_that([](const Variant& variant) {
      const bool image = variant.activations == Storage::kImage;
      return image && variant.manifest->op == "softmax" ? Verdict::kWrong : Verdict::kPass;
    });
    auto plan = plan_network_for(network(), *right, test::kImages);
    ASSERT_TRUE(plan);
    ASSERT_TRUE(check_network_plan(network(), *right, *plan));
    change(kernel(*plan, "copy_image_buffer"));
    EXPECT_FALSE(check_network_plan(network(), *right, *plan));
  };
  refuse([](PlanStep& step) { step.node = 3; });
  refuse([](PlanStep& step) { step.op = "move"; });
  refuse([](PlanStep& step) { step.variant = "copy_image_buffer/normal/-/image/-"; });
  refuse([](PlanStep& step) { ++step.dims["W"]; });
  refuse([](PlanStep& step) {
    std::swap(step.tensors.begin()->second, step.tensors.rbegin()->second);
  });
}

}  // namespace
}  // namespace clvet
