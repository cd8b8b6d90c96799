// A network that stays ready on a real driver below the hostile one: shapes change, faults come.
#include "runtime/run/network_session.h"
#include "runtime/graph/graph.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/tensor.h"
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

constexpr int64_t kWidth = 8;

std::string board_with(const std::string& rules) {
  return R"({"device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
    "rules": [)" +
         rules + "]}";
}

class NetworkSessionOverPocl : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  }

  std::unique_ptr<NetworkSession> open(const test::FakeBoard& board) {
    report_ = test::report_of(board.device());
    report_.devices[0].environment_key = "key";
    return NetworkSession::open(network(), &report_, {.device = "0", .state_dir = state_.path()})
        .value();
  }

  static Graph network() {
    test::ModelBuilder model;
    model.input("x", {-1, kWidth}).output("y");
    model.constant("w", {kWidth, 4}, test::floats(test::noise({kWidth, 4}, 2)));
    model.node("MatMul", {"x", "w"}, {"a"});
    model.node("Tanh", {"a"}, {"y"});
    return model.build();
  }

  // Of so many rows, beside float64.
  static void expect_right(NetworkSession& session, int64_t rows) {
    const Tensor x = test::noise({rows, kWidth}, static_cast<uint32_t>(rows));
    const auto outputs = session.run({{"x", x}});
    ASSERT_TRUE(outputs) << outputs.error().message;
    const auto got = test::floats(outputs->at("y")), in = test::floats(x),
               w = test::floats(test::noise({kWidth, 4}, 2));
    ASSERT_EQ(got.size(), static_cast<size_t>(rows) * 4);
    for (size_t i = 0; i < got.size(); ++i) {
      double sum = 0;
      for (size_t k = 0; k < kWidth; ++k)
        sum += double{in[i / 4 * kWidth + k]} * double{w[k * 4 + i % 4]};
      EXPECT_NEAR(got[i], std::tanh(sum), 1e-5) << rows << " rows, value " << i;
    }
  }

  const test::TempDir state_;
  Report report_;
};

TEST_F(NetworkSessionOverPocl, AnswersForEachShapeOnOneOpenedDevice) {
  // Writes down each context, and changes nothing.
  const test::FakeBoard board(
      board_with(R"({"match": {"call": "clCreateContext"}, "do": {"action": "delay", "ms": 0}})"),
      *test::pocl_library());
  const auto session = open(board);
  for (const int64_t rows : {16, 3, 16, 100, 1}) expect_right(*session, rows);
  EXPECT_EQ(session->record().device, "Board");
  EXPECT_THAT(session->record().warnings, IsEmpty());
  const std::string log = board.log();
  EXPECT_EQ(std::ranges::count(log, '\n'), 1) << log;
}

TEST_F(NetworkSessionOverPocl, StaysOnTheHostForEveryShapeOnceTheDeviceIsGone) {
  const test::FakeBoard board(
      board_with(R"({"match": {"call": "clFinish", "file_exists": "$FAKE_CL_STATE/now"},
                     "do": {"action": "error", "code": "CL_OUT_OF_RESOURCES"}},
                    {"match": {"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/now"},
                     "do": {"action": "error", "code": "CL_OUT_OF_RESOURCES"}})"),
      *test::pocl_library());
  const auto session = open(board);
  expect_right(*session, 16);
  EXPECT_EQ(session->record().device, "Board");
  board.put("now");
  for (const int64_t rows : {16, 3, 16}) expect_right(*session, rows);
  EXPECT_EQ(session->record().device, "host");
}

TEST_F(NetworkSessionOverPocl, RemembersAKernelThatIsWrongForTheNextShape) {
  const test::FakeBoard board(
      board_with(R"({"match": {"call": "clEnqueueNDRangeKernel", "kernel": "^gemm_local64"},
                     "do": {"action": "wrong_tile", "bytes": 64}})"),
      *test::pocl_library());
  const auto session = open(board);
  for (const int64_t rows : {16, 5}) expect_right(*session, rows);
  EXPECT_THAT(session->record().warnings, ElementsAre(HasSubstr("gemm_local64")));
}

}  // namespace
}  // namespace clvet
