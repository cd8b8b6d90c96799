// Timed runs of a network on a real driver: what is copied.
#include <gmock/gmock.h>

#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/run_model.h"
#include "tests/runtime/fake/fake_board.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

// Launches take a while, and so no answer comes so much quicker than the confirmed one, which the
// machine may have disturbed, that it is looked at again.
constexpr auto kScenario = R"({
  "device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
  "rules": [{"match": {"call": "clEnqueueWriteBuffer"}, "do": {"action": "delay", "ms": 0}},
            {"match": {"call": "clEnqueueNDRangeKernel"}, "do": {"action": "delay", "ms": 20}}]})";

class Repeats : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  }

  // How often the driver copies on the way to so many right answers.
  static size_t copies(const test::FakeBoard& board, CapabilityVerdict shares_memory, int repeat) {
    DeviceReport device = board.device();
    device.type = "cpu";
    device.capabilities[kMapReads].verdict = CapabilityVerdict::kTrue;
    device.capabilities["host_pointer"].verdict = shares_memory;
    const Report report = test::report_of(device);
    test::ModelBuilder model;
    model.input("x", {1, 16, 8}).constant("w", {8, 8}, test::floats(test::noise({8, 8}, 2)));
    model.node("MatMul", {"x", "w"}, {"y"});
    model.output("y");
    const std::map<std::string, Tensor> inputs{{"x", test::noise({1, 16, 8})}};
    const size_t before = test::count(board.log(), "in clEnqueueWriteBuffer");
    const auto run = run_model(model.build(), inputs, &report, {{.device = "0"}, repeat});
    EXPECT_TRUE(run) << run.error().message;
    if (!run) return 0;
    EXPECT_EQ(run->record.device, "Board");
    EXPECT_THAT(run->record.warnings, testing::IsEmpty());
    const auto host = run_model(model.build(), inputs, nullptr, {{.device = "host"}});
    test::expect_near(run->outputs.at("y"), host->outputs.at("y"), 1e-4);
    return test::count(board.log(), "in clEnqueueWriteBuffer") - before;
  }
};

TEST_F(Repeats, CopyTheirInputOnceWhereTheDeviceReadsTheHostsMemory) {
  const test::FakeBoard board(kScenario, *test::pocl_library());
  const size_t one = copies(board, CapabilityVerdict::kTrue, 1);
  EXPECT_GT(one, 0u) << "the weights";
  EXPECT_EQ(copies(board, CapabilityVerdict::kTrue, 9), one);
}

TEST_F(Repeats, CopyTheirInputEachTimeElsewhere) {
  const test::FakeBoard board(kScenario, *test::pocl_library());
  const size_t one = copies(board, CapabilityVerdict::kFalse, 1);
  EXPECT_EQ(copies(board, CapabilityVerdict::kFalse, 9), one + 8);
}

}  // namespace
}  // namespace clvet
