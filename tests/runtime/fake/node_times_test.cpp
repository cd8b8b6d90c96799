// What a record says of a node's time, on a device that tells of every wait.
// Its kernels do nothing: products with zeros are right there.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "probe/report/report.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run_model.h"
#include "runtime/run/run_record.h"
#include "tests/runtime/fake/fake_board.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

constexpr char kTold[] = R"({
  "device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
  "rules": [{"match": {"call": "clFinish"}, "do": {"action": "delay", "ms": 0}}]})";

// A sum over the rows of a product needs them in another order: a move between the two belongs to
// neither. Were it not waited for, it would count as the time of the sum.
TEST(NodeTimes, OfANodeDoNotHoldTheHandOverBeforeIt) {
  const test::FakeBoard board(kTold);
  const Report report = test::report_of(board.device());
  test::ModelBuilder model;
  model.input("x", {1, 16, 8}).constant_i64("axes", {1});
  model.constant("w", {8, 8}, std::vector<float>(64, 0));
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("ReduceSum", {"a", "axes"}, {"y"});
  model.output("y");
  const ModelRunOptions options{{.device = "0"}, 0, {}, true};
  const auto run =
      run_model(model.build(), {{"x", *Tensor::create(DType::kF32, {1, 16, 8})}}, &report, options);
  ASSERT_TRUE(run) << run.error().message;
  EXPECT_THAT(run->record.warnings, testing::IsEmpty());
  for (const NodeRecord& node : run->record.nodes)
    EXPECT_EQ(node.place, Place::kDevice) << node.reason;
  const std::string told = board.log();
  EXPECT_GT(test::count(told, "'gemm_"), 0u) << told;
  EXPECT_EQ(test::count(told, "'move_"), test::count(told, "'gemm_")) << told;
}

// Where a wait takes longer than a kernel: what a processor takes for one among others.
TEST(NodeTimes, OfAProcessorAreOfLaunchesBehindEachOther) {
  const test::FakeBoard board(R"({
    "device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
    "rules": [{"match": {"call": "clEnqueueNDRangeKernel"}, "do": {"action": "delay", "ms": 0}},
              {"match": {"call": "clFinish"}, "do": {"action": "delay", "ms": 0.2}}]})");
  DeviceReport device = board.device();
  device.type = "cpu";
  const Report report = test::report_of(device);
  test::ModelBuilder model;
  model.input("x", {1, 16, 8}).constant("w", {8, 8}, std::vector<float>(64, 0));
  model.node("MatMul", {"x", "w"}, {"y"});
  model.output("y");
  const ModelRunOptions options{{.device = "0"}, 0, {}, true};
  const auto run =
      run_model(model.build(), {{"x", *Tensor::create(DType::kF32, {1, 16, 8})}}, &report, options);
  ASSERT_TRUE(run) << run.error().message;
  ASSERT_EQ(run->record.nodes.size(), 1u);
  EXPECT_GT(run->record.nodes[0].ms, 0);
  EXPECT_LT(run->record.nodes[0].ms, 0.2);
  const std::string told = board.log();
  EXPECT_GT(test::count(told, "clEnqueueNDRangeKernel"), 2 * test::count(told, "clFinish")) << told;
}

}  // namespace
}  // namespace clvet
