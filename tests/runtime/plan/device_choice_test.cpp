#include "runtime/plan/device_choice.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/reports.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Report report_of_devices(const std::vector<std::string>& names) {
  Report report;
  for (size_t i = 0; i < names.size(); ++i) {
    DeviceReport device = test::device_with();
    device.id = "d" + std::to_string(i);
    device.name = names[i];
    device.platform = i == 0 ? "First" : "Second";
    device.environment_key = "key of " + names[i];
    // Tells the devices' choosers apart.
    device.peaks.launch_us = 1000.0 * static_cast<double>(i);
    report.devices.push_back(std::move(device));
  }
  return report;
}

// A plan that takes as long as `times` has it for the device; below 0: unavailable.
PlanOnDevice taking(std::vector<double> times) {
  return [times = std::move(times)](const VariantChooser& chooser) -> Result<ExecutionPlan> {
    const double ms = times.at(static_cast<size_t>(chooser.cost().node_launch_ms() + 0.5));
    if (ms < 0) return fail(ErrorCode::kUnavailable, "no kernel is right");
    ExecutionPlan plan;
    plan.phases.push_back({"run", {}, {}, ms});
    return plan;
  };
}

std::vector<std::string> names(const Result<PlannedDevices>& found) {
  std::vector<std::string> names;
  for (const PlannedDevice& row : found->rows) names.push_back(row.device->name);
  return names;
}

TEST(PlanOnDevices, PutsTheFastestFirstAndKeepsTheOthersInOrder) {
  const Report report = report_of_devices({"A", "B", "C", "D"});
  EXPECT_THAT(names(plan_on_devices(report, "auto", taking({3, 2, 1, 2}))),
              ElementsAre("C", "B", "D", "A"));
  EXPECT_THAT(names(plan_on_devices(report, "auto", taking({2, 2, 2, 2}))),
              ElementsAre("A", "B", "C", "D"));
}

TEST(PlanOnDevices, LeavesOutDevicesWithoutAPlanAndSaysWhyNot) {
  const Report report = report_of_devices({"A", "B", "C"});
  const auto found = plan_on_devices(report, "auto", taking({3, -1, 1}));
  EXPECT_THAT(names(found), ElementsAre("C", "A"));
  EXPECT_EQ(found->reason, "B: no kernel is right");
  const auto none = plan_on_devices(report, "auto", taking({-1, -1, -1}));
  ASSERT_TRUE(none);
  EXPECT_TRUE(none->rows.empty());
  EXPECT_EQ(none->reason, "C: no kernel is right");
  const auto empty = plan_on_devices(Report(), "auto", taking({}));
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->reason, "the report has no device");
}

TEST(PlanOnDevices, TakesThoseThatTheSelectorMeans) {
  const Report report = report_of_devices({"Mali", "Adreno 1", "Adreno 2"});
  const PlanOnDevice plan = taking({3, 2, 1});
  EXPECT_THAT(names(plan_on_devices(report, "0", plan)), ElementsAre("Mali"));
  EXPECT_THAT(names(plan_on_devices(report, "Adreno", plan)), ElementsAre("Adreno 2", "Adreno 1"));
  EXPECT_THAT(names(plan_on_devices(report, "Second:0", plan)), ElementsAre("Adreno 1"));
  for (const char* selector : {"7", "Vivante", "First:1", "host"}) {
    const auto none = plan_on_devices(report, selector, plan);
    ASSERT_FALSE(none) << selector;
    EXPECT_EQ(none.error().code, ErrorCode::kNoDevice);
    EXPECT_THAT(none.error().message, HasSubstr(fmt::format("--device '{}'", selector)));
  }
}

TEST(PlanOnDevices, StopsAtAFaultOfTheModel) {
  const auto stopped = plan_on_devices(report_of_devices({"A"}), "auto",
                                       [](const VariantChooser&) -> Result<ExecutionPlan> {
                                         return fail(ErrorCode::kInternal, "a fault");
                                       });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().code, ErrorCode::kInternal);
}

ExecutionPlan plan_for(const std::string& device, const std::string& key) {
  ExecutionPlan plan;
  plan.subject.device = device;
  plan.subject.environment_key = key;
  plan.bytes = 7;
  return plan;
}

TEST(DeviceOfPlan, IsTheOneWithItsEnvironmentKey) {
  const Report report = report_of_devices({"A", "B"});
  const auto found = device_of_plan(&report, plan_for("A", "key of B"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->device, &report.devices[1]);
  EXPECT_EQ(found->chooser->cost().node_launch_ms(), 1);
  EXPECT_EQ(found->plan.bytes, 7);
}

TEST(DeviceOfPlan, IsRefusedWhereTheReportHasItNotOrWithAnotherDriver) {
  const Report report = report_of_devices({"A", "B"});
  const auto driver = device_of_plan(&report, plan_for("A", "0123456789abcdef"));
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, ErrorCode::kInvalidArgument);
  EXPECT_THAT(driver.error().message,
              HasSubstr("another driver of A (environment key 0123456789ab...)"));
  for (const Report* where : {&report, static_cast<const Report*>(nullptr)}) {
    const auto other = device_of_plan(where, plan_for("C", "0123456789abcdef"));
    ASSERT_FALSE(other);
    EXPECT_THAT(other.error().message, HasSubstr("the plan is for C (environment key"));
  }
}

Graph relu_network() {
  test::ModelBuilder model;
  model.input("x", {1, 4, 2, 2}).output("y");
  model.node("Relu", {"x"}, {"y"});
  return test::ready(model);
}

Report full_report() {
  DeviceReport device = test::device_with();
  device.environment_key = "key";
  return test::report_of(device);
}

TEST(NetworkPlan, IsForTheFastestDeviceOrTheHostWithAReason) {
  const Graph graph = relu_network();
  const Report report = full_report();
  const auto made = plan_network_on(graph, {&report, "auto", {}, "m", nullptr});
  ASSERT_TRUE(made);
  EXPECT_EQ(made->device, &report.devices[0]);
  EXPECT_EQ(made->plan.device_nodes(), 1);
  EXPECT_EQ(made->plan.subject.device, "Board");
  EXPECT_EQ(made->plan.subject.environment_key, "key");
  EXPECT_EQ(made->plan.subject.model, "m");

  Report wrong = test::report_of(report.devices[0], [](const Variant&) { return Verdict::kWrong; });
  const struct {
    const Report* report;
    std::string device, node_reason, reason;
  } rows[] = {
      {&report, "host", "the host was requested", ""},
      {nullptr, "auto", "there is no report", ""},
      {&wrong, "auto", "Board: no combination can run the model: no node of the model",
       "Board: no combination can run the model"},
  };
  for (const auto& row : rows) {
    const auto host = plan_network_on(graph, {row.report, row.device, {}, "m", nullptr});
    ASSERT_TRUE(host);
    EXPECT_EQ(host->device, nullptr);
    EXPECT_EQ(host->plan.device_nodes(), 0);
    EXPECT_EQ(host->plan.subject.device, "");
    EXPECT_THAT(test::outline(host->plan), ElementsAre("host Relu_y"));
    EXPECT_THAT(host->plan.phases[0].nodes[0].reason, HasSubstr(row.node_reason));
    EXPECT_THAT(host->reason, HasSubstr(row.reason));
  }
  EXPECT_FALSE(plan_network_on(graph, {&report, "nobody", {}, "m", nullptr}));
}

TEST(NetworkPlan, ThatIsGivenIsTakenAsItIsOrRefused) {
  const Graph graph = relu_network();
  const Report report = full_report();
  for (const char* device : {"auto", "host"}) {
    const ExecutionPlan made = plan_network_on(graph, {&report, device, {}, "m", nullptr})->plan;
    const auto taken = plan_network_on(graph, {&report, "auto", {}, "m", &made});
    ASSERT_TRUE(taken) << taken.error().message;
    EXPECT_EQ(taken->plan, made);
    EXPECT_EQ(taken->device == nullptr, std::string(device) == "host");
    EXPECT_FALSE(plan_network_on(graph, {&report, "auto", {}, "another", &made}));
    ExecutionPlan forged = made;
    forged.phases[0].steps.pop_back();
    const auto refused = plan_network_on(graph, {&report, "auto", {}, "m", &forged});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(refused.error().message, HasSubstr("phases[0].steps"));
  }
  const ExecutionPlan made = plan_network_on(graph, {&report, "auto", {}, "m", nullptr})->plan;
  EXPECT_FALSE(plan_network_on(graph, {nullptr, "auto", {}, "m", &made}));
}

}  // namespace
}  // namespace clvet
