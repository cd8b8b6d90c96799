// Inputs and outputs that go over as the host has them, and are put in order on the device.
#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;

// A convolution of a picture of 5 planes to another one.
Graph picture(int64_t width) {
  test::ModelBuilder model;
  model.input("x", {1, 5, 64, width}).output("y");
  model.constant("w", {5, 5, 3, 3}, test::values(5 * 5 * 3 * 3));
  test::set_ints(model.node("Conv", {"x", "w"}, {"y"}), "pads", {1, 1, 1, 1});
  return test::ready(model);
}

// Transfers take nothing; moves take `move_ms`, all else 1 ms; 0: not timed.
Report report_with(double move_ms) {
  DeviceReport device = test::device_with({});
  device.peaks = {1, 1, 1e-3, 1e3, 1e-3, 1e3, {}, {}};
  return test::timed_report(device, [=](const Variant& variant, const TestShape&) {
    return test::Told{Verdict::kPass, variant.manifest->op == "move" ? move_ms : 1};
  });
}

std::vector<std::string> steps_of(const Graph& graph, const Report& report) {
  const auto plan = plan_network_for(graph, *test::chooser_of(report), test::kBuffers);
  EXPECT_TRUE(plan) << plan.error().message;
  return plan ? test::outline(*plan) : std::vector<std::string>{};
}

TEST(PlainTransfers, AreTakenWhereTheDeviceOrdersFasterThanTheHost) {
  EXPECT_THAT(steps_of(picture(640), report_with(1e-3)),
              ElementsAre("upload x", "kernel move", "kernel conv2d", "kernel move", "download y"));
}

TEST(PlainTransfers, AreNotTakenWhereTheHostIsFasterOrNothingIsKnown) {
  for (const double ms : {1e3, 0.0}) {
    EXPECT_THAT(steps_of(picture(640), report_with(ms)),
                ElementsAre("upload x", "kernel conv2d", "download y"))
        << ms;
  }
}

TEST(PlainTransfers, NeedLinesOfWholeTexels) {
  EXPECT_THAT(steps_of(picture(642), report_with(1e-3)),
              ElementsAre("upload x", "kernel conv2d", "download y"));
}

TEST(PlainTransfers, AreFollowedAsThePlanHasThem) {
  const Graph graph = picture(640);
  for (const double made_with : {1e-3, 1e3}) {
    const auto plan =
        plan_network_for(graph, *test::chooser_of(report_with(made_with)), test::kBuffers);
    ASSERT_TRUE(plan);
    for (const double followed_with : {1e-3, 1e3}) {
      const Status status =
          check_network_plan(graph, *test::chooser_of(report_with(followed_with)), *plan);
      EXPECT_TRUE(status) << status.error().message;
    }
  }
}

TEST(PlainTransfers, OfAPlanThatNamesNoTensorAreRefused) {
  const Graph graph = picture(640);
  const auto chooser = test::chooser_of(report_with(1e-3));
  for (const int tensor : {-1, 99}) {
    auto plan = plan_network_for(graph, *chooser, test::kBuffers);
    ASSERT_TRUE(plan);
    plan->phases[0].steps[0].tensor = tensor;
    EXPECT_FALSE(check_network_plan(graph, *chooser, *plan)) << tensor;
  }
}

}  // namespace
}  // namespace clvet
