// A network on a real driver that begins to lie, in this process: what is found, named and kept.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <cstdint>

#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "probe/report/tombstones.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/run/history.h"
#include "runtime/run/run_model.h"
#include "tests/runtime/fake/fake_board.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string rules(const std::string& rows) {
  return R"({"device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
    "rules": [)" +
         rows + "]}";
}

// Two products and what is between them.
test::ModelBuilder network(int64_t rows = 16) {
  test::ModelBuilder model;
  model.input("x", {1, rows, 8}).output("y");
  model.constant("w", {8, 8}, test::floats(test::noise({8, 8}, 2)));
  model.constant("v", {8, 4}, test::floats(test::noise({8, 4}, 3)));
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("Tanh", {"a"}, {"b"});
  model.node("MatMul", {"b", "v"}, {"y"});
  return model;
}

class LadderOverPocl : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  }
  // Runs the network and compares with the host.
  ModelRun run(const test::FakeBoard& board, ModelRunOptions options = {}) {
    Report report = test::report_of(board.device());
    report.devices[0].environment_key = "key";
    options.device = "0";
    options.state_dir = state_.path();
    History(state_.path()).tell(report);
    auto made = run_model(network().build(), inputs_, &report, options);
    EXPECT_TRUE(made) << made.error().message;
    if (!made) return {};
    ModelRunOptions host;
    host.device = "host";
    const auto wanted = run_model(network().build(), inputs_, nullptr, host);
    const auto got = test::floats(made->outputs.at("y")),
               want = test::floats(wanted->outputs.at("y"));
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(got[i], want[i], 1e-4);
    return std::move(*made);
  }
  std::vector<Tombstone> tombstones() const {
    return read_tombstones(tombstones_file(state_.path()));
  }

  const test::TempDir state_;
  const std::map<std::string, Tensor> inputs_{{"x", test::noise({1, 16, 8})}};
};

TEST_F(LadderOverPocl, ConfirmsARightDriverAndSaysNothing) {
  const test::FakeBoard board(rules(""), *test::pocl_library());
  for (int start = 0; start < 2; ++start) {
    const ModelRun made = run(board);
    EXPECT_EQ(made.record.device, "Board");
    EXPECT_THAT(made.record.warnings, IsEmpty());
    EXPECT_GT(made.record.checked_every, 0);
  }
  EXPECT_THAT(tombstones(), IsEmpty());
}

TEST_F(LadderOverPocl, DoesWithoutAKernelThatIsWrongAndKeepsThat) {
  const test::FakeBoard board(
      rules(R"({"match": {"call": "clEnqueueNDRangeKernel", "kernel": "^gemm_local64"},
                "do": {"action": "wrong_tile", "bytes": 64}})"),
      *test::pocl_library());
  const ModelRun made = run(board);
  EXPECT_THAT(made.record.warnings,
              ElementsAre(AllOf(HasSubstr("gemm_local64"), HasSubstr("differs from the host's"),
                                HasSubstr("computed again"))));
  EXPECT_FALSE(tombstones().empty());
  EXPECT_THAT(run(board).record.warnings, testing::Each(testing::Not(HasSubstr("differs"))));
}

// The device has memory of its own; transfers pass through memory of the driver's.
class LostInMaps : public LadderOverPocl, public testing::WithParamInterface<const char*> {};

TEST_P(LostInMaps, BytesMakeNoWrongAnswerAndNoKernelGuilty) {
  constexpr int64_t kRows = 4096;
  const test::FakeBoard board(
      rules(fmt::format(R"({{"match": {{"call": "{}"}}, "do": {{"action": "lost"}}}},
                           {{"match": {{"call": "clEnqueueMapBuffer"}}, "do": {{"action": "delay", "ms": 0}}}})",
                        GetParam())),
      *test::pocl_library());
  DeviceReport device = board.device();
  device.environment_key = "key";
  device.properties["CL_DEVICE_HOST_UNIFIED_MEMORY"].value = "false";
  device.capabilities[kMapReads].verdict = CapabilityVerdict::kTrue;
  device.peaks.map_us = 20;
  device.peaks.read_us = 10;
  Report report = test::report_of(device);
  History(state_.path()).tell(report);
  const std::map<std::string, Tensor> inputs{{"x", test::noise({1, kRows, 8})}};
  ModelRunOptions options;
  options.device = "0";
  options.state_dir = state_.path();
  const auto made = run_model(network(kRows).build(), inputs, &report, options);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_EQ(made->record.device, "Board");
  EXPECT_THAT(made->record.warnings,
              ElementsAre(HasSubstr("buffers of Board are not mapped any more")));
  options.device = "host";
  const auto wanted = run_model(network(kRows).build(), inputs, nullptr, options);
  const auto got = test::floats(made->outputs.at("y")),
             want = test::floats(wanted->outputs.at("y"));
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(got[i], want[i], 1e-4);
}

INSTANTIATE_TEST_SUITE_P(Calls, LostInMaps,
                         testing::Values("clEnqueueReadBuffer", "clEnqueueWriteBuffer"),
                         [](const auto& row) { return std::string(row.param); });

// On a busy machine, too, the first start's second answer does not take a fourth of the first one's
// time: it is not looked at as one too soon.
TEST_F(LadderOverPocl, FindsWhatBeginsLaterWithinTheRateThatIsAskedFor) {
  const test::FakeBoard board(
      rules(R"({"match": {"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/now"},
                "do": {"action": "skip"}},
               {"match": {"call": "clEnqueueNDRangeKernel"}, "do": {"action": "delay", "ms": 20}})"),
      *test::pocl_library());
  EXPECT_THAT(run(board).record.warnings, IsEmpty());
  board.put("now");
  const ModelRun made = run(board, {{.self_check = 1}});
  EXPECT_EQ(made.record.device, "host");
  EXPECT_THAT(made.record.warnings, testing::Contains(HasSubstr("not checked and may be wrong")));
}

// Of the second start's four answers the fourth is wrong, and it is the one that leaves. On a busy
// machine, too, no answer takes four times another's time: none is looked at as one too soon.
TEST_F(LadderOverPocl, LooksAtTheLastOfManyAnswers) {
  constexpr size_t kLaunches = 2;  // of one answer
  const test::FakeBoard board(
      rules(fmt::format(
          R"({{"match": {{"call": "clEnqueueNDRangeKernel"}}, "do": {{"action": "delay", "ms": 20}}}},
             {{"match": {{"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/now",
                          "count": {{"from": {}, "to": {}}}}},
               "do": {{"action": "wrong_tile", "bytes": 64}}}})",
          3 * kLaunches + 1, 4 * kLaunches)),
      *test::pocl_library());
  EXPECT_THAT(run(board, {.repeat = 0}).record.warnings, IsEmpty());
  ASSERT_EQ(test::count(board.log(), "\n"), 2 * kLaunches) << "a check and an answer";
  board.put("now");
  const ModelRun made = run(board, {.repeat = 3});
  EXPECT_THAT(made.record.warnings, testing::Contains(HasSubstr("computed again")));
}

// What computes nothing is fast.
TEST_F(LadderOverPocl, LooksAtOnceAtAnAnswerThatCameTooSoon) {
  const test::FakeBoard board(
      rules(R"({"match": {"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/now"},
                "do": {"action": "skip"}},
               {"match": {"call": "clEnqueueNDRangeKernel"}, "do": {"action": "delay", "ms": 20}})"),
      *test::pocl_library());
  EXPECT_THAT(run(board).record.warnings, IsEmpty());
  board.put("now");
  const ModelRun made = run(board);
  EXPECT_EQ(made.record.device, "host");
  EXPECT_THAT(made.record.warnings, testing::Contains(HasSubstr("computed again")));
}

TEST_F(LadderOverPocl, TakesNoStepWhereStrict) {
  const test::FakeBoard board(rules(R"({"match": {"call": "clEnqueueNDRangeKernel"},
                                        "do": {"action": "zeros"}})"),
                              *test::pocl_library());
  Report report = test::report_of(board.device());
  const auto made =
      run_model(network().build(), inputs_, &report, {{.device = "0", .strict = true}});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(made.error().message, HasSubstr("differs from the host's"));
}

// 300 * 300 * 8 is beyond 65504.
TEST_F(LadderOverPocl, GoesToHighPrecisionWhereValuesExceedHalf) {
  const test::FakeBoard board(rules(""), *test::pocl_library());
  Report report = test::report_of(board.device());
  report.devices[0].environment_key = "key";
  test::ModelBuilder model;
  model.input("x", {1, 16, 8}).output("y");
  model.constant("w", {8, 8}, std::vector<float>(64, 300));
  model.constant("v", {8, 8}, std::vector<float>(64, 1e-6F));
  model.node("MatMul", {"x", "w"}, {"a"});
  model.node("MatMul", {"a", "v"}, {"y"});
  const std::map<std::string, Tensor> inputs{
      {"x", Tensor::from(Shape{1, 16, 8}, std::span<const float>(std::vector<float>(128, 300)))}};
  ModelRunOptions options{{.device = "0", .state_dir = state_.path(), .model_key = "model"}};
  options.overrides.precision = Precision::kNormal;
  const auto made = run_model(model.build(), inputs, &report, options);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_NEAR(test::floats(made->outputs.at("y"))[0], 5.76, 1e-4);
  EXPECT_THAT(made->record.warnings,
              ElementsAre(AllOf(HasSubstr("exceed the range"), HasSubstr("again with high/"))));
  EXPECT_THAT(tombstones(), IsEmpty()) << "no kernel is at fault";
  EXPECT_EQ(History(state_.path()).needed_precision("model", "key"), Precision::kHigh);
}

// Half has 0.5 between values near 1000: each node is right with what it reads, the answer is not.
TEST_F(LadderOverPocl, GoesToHighPrecisionWhereAnAnswerOfZerosIsNotTheHosts) {
  const test::FakeBoard board(rules(""), *test::pocl_library());
  Report report = test::report_of(board.device());
  report.devices[0].environment_key = "key";
  test::ModelBuilder model;
  model.input("x", {1, 16, 8}).output("y").output("z");
  model.constant("w", {8, 8}, std::vector<float>(64, 125)).constant("c", {1}, {-1000});
  model.node("MatMul", {"x", "w"}, {"z"});
  model.node("Add", {"z", "c"}, {"y"});
  std::vector<float> values(128);
  for (size_t i = 0; i < values.size(); ++i) values[i] = 1 + 1e-5F * static_cast<float>(i / 8);
  const std::map<std::string, Tensor> inputs{
      {"x", Tensor::from(Shape{1, 16, 8}, std::span<const float>(values))}};
  ModelRunOptions options{{.device = "0", .state_dir = state_.path(), .model_key = "model"}};
  options.overrides.precision = Precision::kNormal;
  const auto made = run_model(model.build(), inputs, &report, options);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_NEAR(test::floats(made->outputs.at("y"))[127], 0.15, 1e-3);
  EXPECT_THAT(
      made->record.warnings,
      ElementsAre(AllOf(HasSubstr("all values of output 'y' are zero"),
                        HasSubstr("the host's answer differs"), HasSubstr("again with high/"))));
  EXPECT_EQ(History(state_.path()).needed_precision("model", "key"), Precision::kHigh);
}

TEST_F(LadderOverPocl, BelievesAnAnswerOfZerosThatIsTheHosts) {
  const test::FakeBoard board(rules(""), *test::pocl_library());
  Report report = test::report_of(board.device());
  test::ModelBuilder model;
  model.input("x", {1, 16, 8}).output("y").constant("w", {8, 8}, std::vector<float>(64, 0));
  model.node("MatMul", {"x", "w"}, {"y"});
  const std::map<std::string, Tensor> inputs{
      {"x", Tensor::from(Shape{1, 16, 8}, std::span<const float>(std::vector<float>(128, 1)))}};
  ModelRunOptions options{{.device = "0", .state_dir = state_.path(), .model_key = "model"}};
  options.overrides.precision = Precision::kNormal;
  const auto made = run_model(model.build(), inputs, &report, options);
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_NE(made->record.device, "host");
  EXPECT_THAT(made->record.warnings, IsEmpty());
}

}  // namespace
}  // namespace clvet
