// What a record says of a node's time, on a device that tells of every wait.
#include <gmock/gmock.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "probe/report/report.h"
#include "runtime/exec/run_model.h"
#include "runtime/exec/run_record.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

constexpr char kTold[] = R"({
  "device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
  "rules": [{"match": {"call": "clFinish"}, "do": {"action": "delay", "ms": 0}}]})";

size_t count(const std::string& text, const std::string& word) {
  size_t found = 0;
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += word.size()) ++found;
  return found;
}

// A sum over the rows of a product needs them in another order: a move between the two belongs to
// neither. Were it not waited for, it would count as the time of the sum.
TEST(NodeTimes, OfANodeDoNotHoldTheHandOverBeforeIt) {
  const test::TempDir folder;
  std::filesystem::copy_file(FAKE_CL, folder / "libfake.so");
  const test::ScopedVariable target("FAKE_CL_TARGET", "none"), scenario("FAKE_CL_SCENARIO", kTold),
      log("FAKE_CL_LOG", folder / "log");
  DeviceReport device = test::device_with();
  device.platform = "Boards";
  device.driver = "1";
  device.library = folder / "libfake.so";
  const Report report = test::report_of(device);
  test::ModelBuilder model;
  model.input("x", {1, 16, 8}).constant_i64("axes", {1});
  model.constant("w", {8, 8}, std::vector<float>(64, 1));
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("ReduceSum", {"a", "axes"}, {"y"});
  model.output("y");
  const ModelRunOptions options{.device = "0", .repeat = 0, .node_times = true};
  const auto run = run_model(model.build(), {{"x", test::noise({1, 16, 8})}}, &report, options);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(run->record.warnings, testing::IsEmpty());
  for (const NodeRecord& node : run->record.nodes) EXPECT_EQ(node.where, "opencl") << node.reason;
  const std::string told = test::get(folder / "log");
  EXPECT_GT(count(told, "'gemm_"), 0u) << told;
  EXPECT_EQ(count(told, "'move_"), count(told, "'gemm_")) << told;
}

}  // namespace
}  // namespace clvet
