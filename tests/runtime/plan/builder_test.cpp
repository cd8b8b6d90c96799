// Plans of whole networks: what runs where, what it costs, and that it computes the right thing.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/variant_choice.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/plan/plan_interpreter.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using test::chooser_that;
using test::outline;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

Graph relu_chain(const std::vector<std::string>& ops) {
  test::ModelBuilder model;
  model.input("x", {1, 4, 2, 3});
  std::string from = "x";
  for (size_t i = 0; i < ops.size(); ++i) {
    const std::string to = "v" + std::to_string(i);
    if (ops[i] == "host") {
      test::host_node(model, from, to);
    } else {
      model.node(ops[i], {from}, {to});
    }
    from = to;
  }
  model.output(from);
  return test::ready(model);
}

TEST(NetworkPlanSteps, BringInputsToTheDeviceAndOutputsToTheHost) {
  const auto plan = plan_network_for(relu_chain({"Relu", "Sigmoid"}), *chooser_that(test::all_pass),
                                     test::kBuffers);
  ASSERT_TRUE(plan);
  EXPECT_THAT(outline(*plan), ElementsAre("upload x", "kernel eltwise_unary",
                                          "kernel eltwise_unary", "download v1"));
}

TEST(NetworkPlanSteps, CountEachHandOverEachLaunchAndEachKernel) {
  DeviceReport device = test::device_with();
  device.peaks = {1000, 100, 2000, 1e-3, 3000, 2e-3, {}, {}};
  const auto chooser =
      test::chooser_of(test::timed_report(device, [](const Variant&, const TestShape&) {
        return test::Told{Verdict::kPass, 6};
      }));
  const auto plan =
      plan_network_for(relu_chain({"Relu", "host", "Relu"}), *chooser, test::kBuffers);
  ASSERT_TRUE(plan);
  EXPECT_THAT(outline(*plan),
              ElementsAre("upload x", "kernel eltwise_unary", "download v0", "host IsNaN_v1_bool",
                          "host Cast_v1", "upload v1", "kernel eltwise_unary", "download v2"));
  const PlanPhase& phase = plan->phases[0];
  // 24 floats at 1000 and at 2000 bytes a ms.
  constexpr double kUpload = 3 + 0.048, kDownload = 2 + 0.096, kPiped = 0.1, kLaunch = 1;
  EXPECT_NEAR(phase.steps[0].ms, kUpload, 1e-12);
  EXPECT_NEAR(phase.steps[2].ms, kDownload, 1e-12);
  EXPECT_EQ(phase.steps[3].ms, 0);
  const double kernel = phase.steps[1].ms;
  EXPECT_GT(kernel, 0);
  EXPECT_NEAR(phase.nodes[0].ms, kernel + kLaunch, 1e-12);
  EXPECT_EQ(phase.nodes[1].ms, 0);
  EXPECT_NEAR(plan->ms(), 2 * (kUpload + kDownload + kernel + kPiped), 1e-9);
}

TEST(NetworkPlanSteps, CountNoUploadOfAConstant) {
  DeviceReport device = test::device_with();
  device.peaks.write_us = 3000;
  const auto chooser =
      test::chooser_of(test::timed_report(device, [](const Variant&, const TestShape&) {
        return test::Told{Verdict::kPass, 6};
      }));
  test::ModelBuilder model;
  model.input("x", {1, 4, 2, 3}).constant("c", {1, 4, 2, 3}, test::values(24));
  model.node("Add", {"x", "c"}, {"y"});
  model.output("y");
  const auto plan = plan_network_for(test::ready(model), *chooser, test::kBuffers);
  ASSERT_TRUE(plan);
  EXPECT_THAT(outline(*plan),
              ElementsAre("upload x", "upload c", "kernel eltwise_binary", "download y"));
  const std::vector<PlanStep>& steps = plan->phases[0].steps;
  EXPECT_NEAR(plan->ms(), 3 + steps[2].ms, 1e-9);
}

// The product leaves c in its own order on the device; the difference is taken in that of r.
TEST(NetworkPlanSteps, TakeTheOrderOfAValueAndNotOfAConstant) {
  test::ModelBuilder model;
  model.input("x", {1, 3, 4, 5}).input("y", {1, 3, 4, 5});
  model.constant("w", {5, 5}, test::values(25)).constant("c", {1, 3, 4, 5}, test::values(60));
  model.node("MatMul", {"y", "w"}, {"m"});
  model.node("Add", {"m", "c"}, {"a"});
  model.node("Relu", {"x"}, {"r"});
  model.node("Sub", {"c", "r"}, {"s"});
  model.output("a").output("s");
  const auto plan =
      plan_network_for(test::ready(model), *chooser_that(test::all_pass), test::kBuffers);
  ASSERT_TRUE(plan);
  EXPECT_THAT(outline(*plan), testing::Not(Contains("kernel move")));
}

TEST(NetworkPlanSteps, GiveANodeOfAProcessorTheTimeOfALaunchAmongOthers) {
  DeviceReport device = test::device_with();
  device.type = "cpu";
  device.peaks.launch_us = 1000;
  device.peaks.piped_launch_us = 100;
  const auto chooser =
      test::chooser_of(test::timed_report(device, [](const Variant&, const TestShape&) {
        return test::Told{Verdict::kPass, 6, 4};
      }));
  const auto plan = plan_network_for(relu_chain({"Relu"}), *chooser, test::kBuffers);
  ASSERT_TRUE(plan);
  const PlanPhase& phase = plan->phases[0];
  EXPECT_NEAR(phase.nodes[0].ms, phase.steps[1].ms + 0.1, 1e-12);
}

// 5 ms of its own among launches of 7: half of what is beyond an empty launch hides the next one.
TEST(NetworkPlanSteps, CountWhatTheDriverSpendsOnEachLaunch) {
  DeviceReport device = test::device_with();
  device.peaks.launch_us = 1000;
  device.peaks.piped_launch_us = 100;
  const auto chooser =
      test::chooser_of(test::timed_report(device, [](const Variant&, const TestShape&) {
        return test::Told{Verdict::kPass, 6, 7};
      }));
  const auto plan = plan_network(relu_chain({"Relu", "Relu"}), *chooser, {});
  ASSERT_TRUE(plan);
  const double own_ms = plan->phases[0].steps[1].ms;
  EXPECT_NEAR(plan->ms(), 2 * (own_ms + 7 - (own_ms - 0.1) / 2), 1e-9);
}

TEST(NetworkPlanSteps, GiveANodeWithoutARightKernelToTheHostAndTellIt) {
  const auto chooser = chooser_that([](const Variant& variant) {
    return variant.manifest->op == "eltwise_unary" ? Verdict::kCrash : Verdict::kPass;
  });
  test::ModelBuilder model;
  model.input("x", {1, 4, 2, 3}).output("y");
  model.node("GlobalAveragePool", {"x"}, {"p"});
  model.node("Sigmoid", {"p"}, {"y"});
  const auto plan = plan_network_for(test::ready(model), *chooser, test::kBuffers);
  ASSERT_TRUE(plan);
  const std::string variant = "eltwise_unary_texel/high/-/buffer/-/-";
  const PlannedNode& node = test::node_of(*plan, "Sigmoid_y");
  EXPECT_EQ(node.place, Place::kHost);
  EXPECT_EQ(node.reason, "the verdict of kernel " + variant + " is crash");
  EXPECT_THAT(plan->fallbacks,
              ElementsAre(Fallback{"Sigmoid_y", "eltwise_unary", "host",
                                   "the verdict of kernel " + variant + " is crash"}));
  EXPECT_THAT(outline(*plan),
              ElementsAre("upload x", "kernel pool_global", "download p", "host Sigmoid_y"));
  EXPECT_EQ(test::node_of(*plan, "GlobalAveragePool_p").place, Place::kDevice);
}

TEST(NetworkPlanSteps, TellWhyANodeThatNoKernelKnowsIsOnTheHostWithoutCallingItAFallback) {
  const auto plan =
      plan_network_for(relu_chain({"Relu", "host"}), *chooser_that(test::all_pass), test::kBuffers);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->fallbacks.empty());
  EXPECT_NE(plan->phases[0].nodes[1].reason, "");
}

TEST(NetworkPlanSteps, FallToBuffersNodeByNodeWhereImagesAreWrong) {
  const auto chooser = chooser_that([](const Variant& variant) {
    const bool image = variant.activations == Storage::kImage;
    return image && variant.manifest->op == "eltwise_unary" ? Verdict::kWrong : Verdict::kPass;
  });
  const Graph graph = relu_chain({"GlobalAveragePool", "Relu"});
  const auto plan = plan_network_for(graph, *chooser, test::kImages);
  ASSERT_TRUE(plan);
  EXPECT_THAT(plan->fallbacks,
              ElementsAre(Fallback{"Relu_v1", "eltwise_unary_texel/high/-/image/-/-",
                                   "eltwise_unary_texel/high/-/buffer/-/-", "wrong"}));
  EXPECT_THAT(outline(*plan),
              ElementsAre("upload x", "kernel pool_global", "kernel copy_image_buffer",
                          "kernel eltwise_unary", "download v1"));
}

TEST(NetworkPlanSteps, AreUnavailableWhereNoNodeRunsOnTheDevice) {
  const auto wrong = chooser_that([](const Variant&) { return Verdict::kWrong; });
  const auto none = plan_network_for(relu_chain({"Relu"}), *wrong, test::kBuffers);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().code, ErrorCode::kUnavailable);
  EXPECT_FALSE(plan_network(relu_chain({"Relu"}), *wrong, {}));
}

TEST(NetworkPlanSteps, KeepARaisedNodeAtHighAndCastAtItsBorders) {
  const Graph graph = relu_chain({"Relu", "Sigmoid", "Relu"});
  const std::string raised = graph.nodes[1].name;
  for (const bool images : {false, true}) {
    Combination half = images ? test::kImages : test::kBuffers;
    half.precision = Precision::kNormal;
    const std::set<std::string, std::less<>> names{raised};
    const auto plan =
        plan_network_for(graph, *chooser_that(test::all_pass), half, {.raised = &names});
    ASSERT_TRUE(plan) << plan.error().message;
    std::string casts;
    for (const PlanStep& step : plan->phases[0].steps) {
      if (step.op.starts_with("cast_")) casts += step.op + " ";
      if (step.kind != StepKind::kKernel || step.node < 0) continue;
      const bool high = step.variant.find("/high/") != std::string::npos;
      EXPECT_EQ(high, graph.nodes[static_cast<size_t>(step.node)].name == raised) << step.variant;
    }
    EXPECT_EQ(casts, "cast_half_float cast_float_half ");
    EXPECT_EQ(test::node_of(*plan, raised).place, Place::kDevice);
  }
}

// A cast from half would bring back what half has lost.
TEST(NetworkPlanSteps, BringAnInputToARaisedNodeInFloat) {
  const Graph graph = relu_chain({"Relu", "Sigmoid"});
  Combination half = test::kBuffers;
  half.precision = Precision::kNormal;
  const std::set<std::string, std::less<>> names{graph.nodes[0].name};
  const auto plan =
      plan_network_for(graph, *chooser_that(test::all_pass), half, {.raised = &names});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_FALSE(plan->tensors[0].half);
}

// Half has no fractions of large coordinates. What an earlier kernel made of them is cast back.
TEST(NetworkPlanSteps, BringInFloatWhatAKernelReadsInFloatAtEveryPrecision) {
  for (const bool made : {false, true}) {
    test::ModelBuilder model;
    model.input("x", {1, 3, 4, 4}).input("given", {2, 4}).output("y").constant_i64("b", {0, 0});
    if (made) model.node("Relu", {"given"}, {"rois"});
    model.node("RoiAlign", {"x", made ? "rois" : "given", "b"}, {"y"});
    for (Combination half : {test::kBuffers, test::kImages}) {
      half.precision = Precision::kNormal;
      const auto plan = plan_network_for(test::ready(model), *chooser_that(test::all_pass), half);
      ASSERT_TRUE(plan) << plan.error().message;
      const PlanStep* align = nullptr;
      for (const PlanStep& step : plan->phases[0].steps) {
        if (step.op == "roi_align") align = &step;
      }
      ASSERT_NE(align, nullptr);
      const auto at = [&](const char* role) {
        return plan->tensors[static_cast<size_t>(align->tensors.at(role))];
      };
      EXPECT_FALSE(at("rois").half);
      EXPECT_EQ(at("rois").storage, Storage::kBuffer);
      EXPECT_TRUE(at("x").half);
    }
  }
}

TEST(NetworkPlanSteps, OfACompositeKeepFloatsFromTheirFirstViewOn) {
  test::ModelBuilder model;
  model.input("x", {2, 6}).output("y").constant_i64("shape", {4, 3});
  model.node("Reshape", {"x", "shape"}, {"t"});
  model.node("Relu", {"t"}, {"y"});
  Graph graph = test::ready(model);
  for (Node& node : graph.nodes) node.is_step = true;
  Combination half = test::kBuffers;
  half.precision = Precision::kNormal;
  const auto plan = plan_network_for(graph, *chooser_that(test::all_pass), half);
  ASSERT_TRUE(plan) << plan.error().message;
  for (const DeviceTensor& tensor : plan->tensors) EXPECT_FALSE(tensor.half) << tensor.value;
}

TEST(NetworkPlanSteps, LaunchNothingForTensorsWithoutElements) {
  test::ModelBuilder model;
  model.input("x", {2, 6}).output("y").output("none").constant_i64("parts", {6, 0});
  test::set_int(model.node("Split", {"x", "parts"}, {"y", "some"}), "axis", 1);
  model.node("Relu", {"some"}, {"none"});
  const Graph graph = test::ready(model);
  const auto plan = plan_network_for(graph, *chooser_that(test::all_pass), test::kBuffers);
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(test::node_of(*plan, "Relu_none").place, Place::kDevice);
  EXPECT_THAT(outline(*plan), ElementsAre("upload x", "kernel move", "download y"));
  EXPECT_TRUE(check_network_plan(graph, *chooser_that(test::all_pass), *plan));
}

TEST(NetworkPlanSteps, GoThroughTheHostWhereNoCastIsTrusted) {
  const Graph graph = relu_chain({"Relu", "Sigmoid"});
  const auto chooser = chooser_that([](const Variant& variant) {
    return variant.manifest->op.starts_with("cast_") ? Verdict::kCrash : Verdict::kPass;
  });
  Combination half = test::kBuffers;
  half.precision = Precision::kNormal;
  const std::set<std::string, std::less<>> names{graph.nodes[1].name};
  const auto plan = plan_network_for(graph, *chooser, half, {.raised = &names});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(outline(*plan), ElementsAre("upload x", "kernel eltwise_unary", "download v0",
                                          "upload v0", "kernel eltwise_unary", "download v1"));
}

TEST(NetworkPlanSteps, BringNoInputIntoAnImageThatTheDeviceCannotHave) {
  test::ModelBuilder model;
  model.input("x", {1, 4, 2, 300}).output("y").output("t");
  test::set_ints(model.node("Transpose", {"x"}, {"t"}), "perm", {0, 1, 3, 2});
  model.node("Relu", {"t"}, {"y"});
  const Graph graph = test::ready(model);
  for (const bool images : {true, false}) {
    test::Limits limits;
    limits.image_width = images ? "100" : "16384";
    DeviceReport device = test::device_with(limits);
    if (!images) device.properties.erase("CL_DEVICE_IMAGE_SUPPORT");
    const auto chooser = test::chooser_of(test::report_of(device));
    const auto plan = plan_network_for(graph, *chooser, test::kImages);
    ASSERT_TRUE(plan);
    for (const DeviceTensor& tensor : plan->tensors) {
      EXPECT_EQ(tensor.storage, Storage::kBuffer) << tensor.value;
    }
  }
}

TEST(NetworkPlan, KeepsItsPrecisionWhenTimesAreOffByATenth) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> noise(0.9, 1.1);
  const Graph graph = test::mixed_network();
  DeviceReport device = test::device_with();
  device.extensions = {"cl_khr_fp16"};
  const struct {
    double half;  // what kernels on halves take, of the others' time
    Precision taken;
  } rows[] = {{0.95, Precision::kHigh}, {0.8, Precision::kHigh}, {0.45, Precision::kNormal}};
  for (const auto& row : rows) {
    for (int i = 0; i < 5; ++i) {
      const auto chooser = test::chooser_of(
          test::timed_report(device, [&](const Variant& variant, const TestShape& shape) {
            if (variant.precision == Precision::kLow) return test::Told{Verdict::kWrong, 0};
            const double work = static_cast<double>(shape.name.size());
            return test::Told{Verdict::kPass, work * noise(random) *
                                                  (stores_half(variant.precision) ? row.half : 1)};
          }));
      const auto plan = plan_network(graph, *chooser, {{}, {}, Storage::kBuffer, Storage::kBuffer});
      ASSERT_TRUE(plan);
      EXPECT_EQ(plan->combination.precision, row.taken) << row.half;
    }
  }
}

// It keeps the size of its input, as a product over pixels does.
TEST(NetworkPlan, MakesNoProductOfAConvolutionOverRowsOrColumns) {
  for (const bool rows : {true, false}) {
    test::ModelBuilder model;
    const int64_t height = rows ? 3 : 1, width = rows ? 1 : 3;
    model.input("x", {1, 4, 5, 5});
    model.constant("w", {4, 4, height, width}, std::vector<float>(48, 1));
    test::set_ints(model.node("Conv", {"x", "w"}, {"y"}), "pads",
                   {height / 2, width / 2, height / 2, width / 2});
    model.output("y");
    const auto plan = plan_network(test::ready(model), *chooser_that(test::all_pass), {});
    ASSERT_TRUE(plan);
    EXPECT_THAT(outline(*plan), Contains("kernel conv2d")) << rows;
  }
}

TEST(NetworkPlan, GivesEachNodeTheStorageInWhichItsKernelIsFaster) {
  const Graph graph = relu_chain({"Relu", "GlobalAveragePool"});
  for (const char* in_images : {"eltwise_unary", "pool_global"}) {
    const auto chooser = test::chooser_of(
        test::timed_report(test::device_with(), [&](const Variant& variant, const TestShape&) {
          const std::string& op = variant.manifest->op;
          const bool fast = op.starts_with("copy_") ||
                            (op == in_images) == (variant.activations == Storage::kImage);
          return test::Told{Verdict::kPass, fast ? 0.01 : 10};
        }));
    const auto plan = plan_network(graph, *chooser, {});
    ASSERT_TRUE(plan);
    for (const PlanStep& step : plan->phases.front().steps) {
      if (step.kind != StepKind::kKernel || step.node < 0) continue;
      EXPECT_EQ(step.variant.find("/image/") != std::string::npos, step.op == in_images)
          << step.variant;
    }
  }
}

// A run of 1.0 ms in buffers would take 0.97 with the pool in images, or 0.7.
TEST(NetworkPlan, ChangesTheStorageBetweenNodesOnlyToSaveATenth) {
  const Graph graph = relu_chain({"Relu", "GlobalAveragePool"});
  const auto images_with_pools_of = [&](double pool_ms) {
    const auto told = [&](const Variant& variant, const TestShape&) {
      const std::string& op = variant.manifest->op;
      const bool image = variant.activations == Storage::kImage;
      if (op.starts_with("copy_")) return test::Told{Verdict::kPass, 1e-6};
      if (op == "pool_global") return test::Told{Verdict::kPass, image ? pool_ms : 0.5};
      return test::Told{Verdict::kPass, image ? 10 : 0.5};
    };
    const auto plan =
        plan_network(graph, *test::chooser_of(test::timed_report(test::device_with(), told)), {});
    int images = 0;
    for (const PlanStep& step : plan->phases.front().steps) {
      images += step.op == "pool_global" && step.variant.find("/image/") != std::string::npos;
    }
    return images;
  };
  EXPECT_EQ(images_with_pools_of(0.47), 0);
  EXPECT_EQ(images_with_pools_of(0.2), 1);
}

TEST(NetworkPlan, IsTheSameEveryTime) {
  const auto a = plan_network(test::mixed_network(), *chooser_that(test::all_pass), {});
  const auto b = plan_network(test::mixed_network(), *chooser_that(test::all_pass), {});
  ASSERT_TRUE(a && b);
  EXPECT_EQ(*a, *b);
}

TEST(NetworkPlan, OnTheHostRunsEveryNodeThere) {
  const Graph graph = relu_chain({"Relu", "Relu"});
  const ExecutionPlan plan = plan_on_host(graph, "why");
  EXPECT_THAT(outline(plan), ElementsAre("host Relu_v0", "host Relu_v1"));
  EXPECT_EQ(plan.phases[0].nodes[1].reason, "why");
  EXPECT_EQ(plan.device_nodes(), 0);
  EXPECT_EQ(plan.ms(), 0);
}

// Random networks: each node takes what earlier ones made.
class RandomNetwork {
 public:
  explicit RandomNetwork(uint32_t seed) : random_(seed) {
    add_input("x");
    const int count = 4 + below(7);
    for (int i = 0; i < count; ++i) add_node("v" + std::to_string(i));
    model_.output(tensors_.back().name);
    for (size_t i = 1; i + 1 < tensors_.size(); ++i) {
      if (below(4) == 0) model_.output(tensors_[i].name);
    }
  }
  Graph graph() const { return test::ready(model_); }
  const Shape& input() const { return tensors_[0].shape; }

 private:
  struct Row {
    std::string name;
    Shape shape;
  };
  int below(int count) { return static_cast<int>(random_() % static_cast<uint32_t>(count)); }
  void add_input(const std::string& name) {
    const Shape shape = {1 + below(2), 1 + below(9), 1 + below(6), 1 + below(6)};
    model_.input(name, shape);
    tensors_.push_back({name, shape});
  }
  std::string constant(const Shape& shape) {
    const std::string name = "k" + std::to_string(constants_++);
    model_.constant(
        name, shape,
        test::values(static_cast<size_t>(elements_of(shape)), static_cast<uint32_t>(constants_)));
    return name;
  }

  void add_node(const std::string& to) {
    const Row from = tensors_[below(static_cast<int>(tensors_.size()))];
    Shape shape = from.shape;
    switch (below(11)) {
      case 0:
        model_.node("Relu", {from.name}, {to});
        break;
      case 1:
        shape = conv(from, to);
        break;
      case 2:
        model_.node("Mul", {from.name, constant({from.shape[1], 1, 1})}, {to});
        break;
      case 3:
        model_.node("Add", {from.name, alike(from)}, {to});
        break;
      case 4:
        model_.node("GlobalAveragePool", {from.name}, {to});
        shape[2] = shape[3] = 1;
        break;
      case 5:
        shape = transpose(from, to);
        break;
      case 6:
        shape = {shape[0], shape[1] * shape[2], 1, shape[3]};
        model_.constant_i64(to + "_shape", shape).node("Reshape", {from.name, to + "_shape"}, {to});
        break;
      case 7:
        test::host_node(model_, from.name, to);
        break;
      case 8:
        test::set_int(model_.node("Concat", {from.name, alike(from)}, {to}), "axis", 1);
        shape[1] *= 2;
        break;
      case 9:
        model_.node("MatMul", {from.name, constant({shape[3], 5})}, {to});
        shape[3] = 5;
        break;
      default:
        model_.constant_i64(to + "_rows", {0, shape[2] - 1, 0});
        test::set_int(model_.node("Gather", {from.name, to + "_rows"}, {to}), "axis", 2);
        shape[2] = 3;
    }
    tensors_.push_back({to, shape});
  }

  Shape conv(const Row& from, const std::string& to) {
    const int64_t k = below(2) == 0 ? 1 : 3, channels = 1 + below(9);
    const std::string w = constant({channels, from.shape[1], k, k});
    auto& node = model_.node("Conv", {from.name, w}, {to});
    test::set_ints(node, "pads", {k / 2, k / 2, k / 2, k / 2});
    return {from.shape[0], channels, from.shape[2], from.shape[3]};
  }
  Shape transpose(const Row& from, const std::string& to) {
    std::vector<int64_t> perm = {0, 1, 2, 3};
    std::shuffle(perm.begin() + 1, perm.end(), random_);
    test::set_ints(model_.node("Transpose", {from.name}, {to}), "perm", perm);
    Shape shape;
    for (const int64_t axis : perm) shape.push_back(from.shape[static_cast<size_t>(axis)]);
    return shape;
  }
  std::string alike(const Row& from) {
    for (const Row& row : tensors_) {
      if (row.name != from.name && row.shape == from.shape) return row.name;
    }
    return from.name;
  }

  std::mt19937 random_;
  test::ModelBuilder model_;
  std::vector<Row> tensors_;
  int constants_ = 0;
};

// Each variant right or not, timed or not, by chance.
std::shared_ptr<const VariantChooser> random_chooser(uint32_t seed) {
  std::mt19937 random(seed);
  DeviceReport device = test::device_with({.image_width = seed % 3 == 0 ? "12" : "16384"});
  if (seed % 2 == 0) device.extensions = {"cl_khr_fp16"};
  device.type = seed % 5 == 0 ? "cpu" : "gpu";
  const uint32_t wrong = seed % 4;  // of ten
  return test::chooser_of(test::timed_report(device, [&](const Variant& variant, const TestShape&) {
    if (!unsupported_reason(variant, features_of(device)).empty()) {
      return test::Told{Verdict::kUnsupported, 0};
    }
    if (random() % 40 < wrong) return test::Told{Verdict::kWrong, 0};
    return test::Told{Verdict::kPass, random() % 3 == 0 ? 0.0 : 1.0 + random() % 9};
  }));
}

// A third of the nodes.
std::set<std::string, std::less<>> some_nodes(const Graph& graph, uint32_t seed) {
  std::mt19937 random(seed);
  std::set<std::string, std::less<>> names;
  for (const Node& node : graph.nodes) {
    if (random() % 3 == 0) names.insert(node.name);
  }
  return names;
}

class RandomPlans : public testing::TestWithParam<uint32_t> {};

TEST_P(RandomPlans, ComputeWhatTheHostComputesAndAreAcceptedWhenChecked) {
  const RandomNetwork network(GetParam());
  const Graph graph = network.graph();
  const std::map<std::string, Tensor> inputs = {{"x", test::noise(network.input(), GetParam())}};
  const auto expected = HostExecutor(graph).run(inputs);
  ASSERT_TRUE(expected) << expected.error().message;
  const auto chooser = random_chooser(GetParam());
  const auto some = some_nodes(graph, GetParam());
  const std::set<std::string, std::less<>> none;
  for (const Combination& combination : combinations_of({}, {.image_activations = true})) {
    for (const auto* raised : {&none, &some}) {
      const auto plan = plan_network_for(graph, *chooser, combination, {.raised = raised});
      if (!plan) {
        EXPECT_EQ(plan.error().code, ErrorCode::kUnavailable) << plan.error().message;
        continue;
      }
      SCOPED_TRACE(to_string(combination));
      for (const PlanStep& step : plan->phases[0].steps) {
        if (step.kind != StepKind::kKernel) continue;
        const auto vouched =
            chooser->choose_named({step.op, step.dims, step.scalars, combination}, step.variant);
        EXPECT_TRUE(vouched) << vouched.error().message;
      }
      const auto outputs =
          test::PlanInterpreter(graph, *plan, chooser->table(), chooser->features()).run(inputs);
      for (const auto& [name, tensor] : expected->outputs) {
        test::expect_near(outputs.at(name), tensor, 1e-4);
      }
      const Status status = check_network_plan(graph, *chooser, *plan);
      EXPECT_TRUE(status) << status.error().message;
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, testing::Range(1u, 61u));

}  // namespace
}  // namespace clvet
