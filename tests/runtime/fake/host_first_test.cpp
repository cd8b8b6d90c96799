// A network that the host answers until its device is ready, on a real driver below the hostile
// one.
#include "runtime/run/host_first.h"  // IWYU pragma: keep

#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/network_options.h"
#include "runtime/run/open_network.h"
#include "tests/runtime/fake/fake_board.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string board_with(const std::string& rules) {
  return R"({"device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
    "rules": [)" +
         rules + "]}";
}

constexpr const char* kSlowCompiler =
    R"({"match": {"call": "clBuildProgram"}, "do": {"action": "delay", "ms": 200}})";

class HostFirstOverPocl : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  }

  NetworkOptions options() {
    NetworkOptions words{.device = "0", .state_dir = state_.path()};
    words.start = Start::kCpuFirst;
    words.sink = [this](const Event& event) {
      if (event.level == EventLevel::kWarning) warnings_.push_back(event.text);
    };
    return words;
  }

  std::unique_ptr<OpenNetwork> open(const test::FakeBoard& board, NetworkOptions words) {
    report_ = test::report_of(board.device());
    report_.devices[0].environment_key = "key";
    test::ModelBuilder model;
    model.input("x", {-1, 8}).output("y");
    model.node("Tanh", {"x"}, {"y"});
    return open_network(model.build(), &report_, std::move(words)).value();
  }

  // One answer beside float64, and what it came from.
  static std::string answer_of(OpenNetwork& network, int64_t rows = 5) {
    Tensor x = test::noise({rows, 8});
    const std::vector<float> in = test::floats(x);
    const auto outputs = network.run({{"x", x}});
    if (!outputs) return outputs.error().message;
    const std::vector<float> got = test::floats(outputs->at("y"));
    for (size_t i = 0; i < in.size(); ++i) EXPECT_NEAR(got[i], std::tanh(double{in[i]}), 1e-5);
    // The user's memory is the user's again.
    std::fill_n(x.data<float>(), x.elements(), 1e30F);
    return network.record().device;
  }

  // What answers once it is no longer the host, or after a while.
  static std::string answer_in_the_end(OpenNetwork& network) {
    std::string device = "host";
    for (int i = 0; i < 3000 && device == "host"; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      device = answer_of(network);
    }
    return device;
  }

  const test::TempDir state_;
  Report report_;
  std::vector<std::string> warnings_;
};

TEST_F(HostFirstOverPocl, AnswersOnTheHostUntilTheDeviceIsReady) {
  const test::FakeBoard board(board_with(kSlowCompiler), *test::pocl_library());
  const auto network = open(board, options());
  EXPECT_EQ(answer_of(*network), "host");
  const size_t before = network->place();
  EXPECT_EQ(answer_in_the_end(*network), "Board");
  EXPECT_NE(network->place(), before);
  EXPECT_EQ(answer_of(*network, 9), "Board") << "of another shape";
  EXPECT_THAT(warnings_, IsEmpty());
}

TEST_F(HostFirstOverPocl, StaysOnTheHostWhereTheDeviceFails) {
  const test::FakeBoard board(board_with(R"({"match": {"call": "clEnqueueNDRangeKernel"},
                     "do": {"action": "error", "code": "CL_OUT_OF_RESOURCES"}})"),
                              *test::pocl_library());
  const auto network = open(board, options());
  EXPECT_EQ(answer_of(*network), "host");
  network->save_programs();  // waits for what the device makes of it
  EXPECT_EQ(answer_of(*network), "host");
  ASSERT_FALSE(warnings_.empty());
  EXPECT_THAT(warnings_[0], HasSubstr("CL_OUT_OF_RESOURCES"));
}

TEST_F(HostFirstOverPocl, RefusesAtOnceADeviceThatThereIsNot) {
  const test::FakeBoard board(board_with(kSlowCompiler), *test::pocl_library());
  NetworkOptions words = options();
  words.device = "7";
  EXPECT_THAT(answer_of(*open(board, words)), HasSubstr("7"));
}

TEST_F(HostFirstOverPocl, RefusesInputsThatDoNotFitAndGoesOn) {
  const test::FakeBoard board(board_with(kSlowCompiler), *test::pocl_library());
  const auto network = open(board, options());
  EXPECT_FALSE(network->run({{"x", test::noise({5, 7})}}));
  EXPECT_EQ(answer_of(*network), "host");
  EXPECT_EQ(answer_in_the_end(*network), "Board");
}

TEST_F(HostFirstOverPocl, StartsTheDeviceAgainAfterItWasCancelled) {
  const test::FakeBoard board(board_with(kSlowCompiler), *test::pocl_library());
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  NetworkOptions words = options();
  words.cancelled = cancelled;
  const auto network = open(board, words);
  EXPECT_EQ(answer_of(*network), "host");
  *cancelled = true;
  network->save_programs();
  *cancelled = false;
  EXPECT_EQ(answer_in_the_end(*network), "Board");
}

TEST_F(HostFirstOverPocl, NeedsItsCallersReportNoMoreOnceItIsOpen) {
  const test::FakeBoard board(board_with(kSlowCompiler), *test::pocl_library());
  const auto network = open(board, options());
  EXPECT_EQ(answer_of(*network), "host");
  report_ = {};
  EXPECT_EQ(answer_in_the_end(*network), "Board");
}

TEST_F(HostFirstOverPocl, MayBeClosedWhileTheDeviceIsMadeReady) {
  const test::FakeBoard board(board_with(kSlowCompiler), *test::pocl_library());
  EXPECT_EQ(answer_of(*open(board, options())), "host");
}

TEST(HostFirst, IsTheHostAloneWithoutAReport) {
  test::ModelBuilder model;
  model.input("x", {2}).output("y");
  model.node("Tanh", {"x"}, {"y"});
  NetworkOptions words;
  words.start = Start::kCpuFirst;
  const auto network = open_network(model.build(), nullptr, words).value();
  ASSERT_TRUE(network->run({{"x", test::noise({2})}}));
  EXPECT_EQ(network->record().device, "host");
}

}  // namespace
}  // namespace clvet
