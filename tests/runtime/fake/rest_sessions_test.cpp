// Networks whose shapes follow from values that they compute, on a real driver below the hostile
// one: what follows these values runs on the device, for each length right.
#include "runtime/run/rest_sessions.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/run/network_options.h"
#include "runtime/run/network_session.h"
#include "runtime/run/profile.h"
#include "runtime/run/run_record.h"
#include "tests/runtime/fake/fake_board.h"
#include "tests/runtime/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using Inputs = NetworkSession::Inputs;

constexpr int64_t kWidth = 8, kColumns = 4;
constexpr const char* kQuiet =
    R"({"match": {"call": "clCreateContext"}, "do": {"action": "delay", "ms": 0}})";

std::string board_with(const std::string& rules) {
  return R"({"device": {"platform_name": "Boards", "name": "Board", "driver_version": "1"},
    "rules": [)" +
         rules + "]}";
}

std::vector<float> weights() { return test::floats(test::noise({kWidth, kColumns}, 2)); }

// How many rows a text takes: the sum of its durations, without its fraction. Then row i of
// y = tanh((i + 1) * x * w), where the sum of i + 1 rows is the host's, being of doubles.
test::ModelBuilder text_to_rows() {
  test::ModelBuilder model;
  model.input("durations", {3}).input("x", {1, kWidth}).constant_i64("one", {1});
  model.constant_i64("width", {kWidth}).constant_i64("axis", {0});
  model.constant("w", {kWidth, kColumns}, weights());
  model.node("Relu", {"durations"}, {"positive"});
  model.node("ReduceSum", {"durations"}, {"sum"});  // of one axis, which stays
  test::set_int(model.node("Cast", {"sum"}, {"n"}), "to", 7);
  test::set_int(model.node("Concat", {"n", "width"}, {"shape"}), "axis", 0);
  model.node("Expand", {"x", "shape"}, {"wide"});
  test::set_int(model.node("Cast", {"wide"}, {"doubles"}), "to", 11);
  model.node("CumSum", {"doubles", "axis"}, {"sums"});
  test::set_int(model.node("Cast", {"sums"}, {"rows"}), "to", 1);
  model.node("MatMul", {"rows", "w"}, {"a"});
  model.node("Tanh", {"a"}, {"y"});
  return model;
}

Tensor durations(float a, float b, float c) { return Tensor::of<float>({3}, {a, b, c}); }
Tensor letter() { return test::noise({1, kWidth}, 5); }
Inputs of_length(int64_t rows) {
  return {{"durations", durations(static_cast<float>(rows) - 1.5F, 1.0F, 0.75F)}, {"x", letter()}};
}

// Row i of y.
double wanted(int64_t row, int64_t column) {
  const auto x = test::floats(letter()), w = weights();
  double sum = 0;
  for (size_t k = 0; k < kWidth; ++k)
    sum += static_cast<double>(row + 1) * double{x[k]} *
           double{w[k * kColumns + static_cast<size_t>(column)]};
  return std::tanh(sum);
}

Place place_of(const RunRecord& record, const std::string& op) {
  const auto row = std::ranges::find(record.nodes, op, &NodeRecord::op);
  EXPECT_NE(row, record.nodes.end()) << op;
  return row == record.nodes.end() ? Place::kHost : row->place;
}

std::string reason_of(const RunRecord& record, const std::string& op) {
  const auto row = std::ranges::find(record.nodes, op, &NodeRecord::op);
  return row == record.nodes.end() ? "" : row->reason;
}

class RestSessionsOverPocl : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  }

  std::unique_ptr<NetworkSession> open(const test::FakeBoard& board,
                                       const test::ModelBuilder& model,
                                       NetworkOptions options = {.device = "0"}) {
    report_ = test::report_of(board.device(), judge_);
    report_.devices[0].environment_key = "key";
    options.state_dir = state_.path();
    return NetworkSession::open(model.build(), &report_, std::move(options)).value();
  }

  static void expect_right(NetworkSession& session, int64_t rows) {
    const auto outputs = session.run(of_length(rows));
    ASSERT_TRUE(outputs) << outputs.error().message;
    expect_rows(outputs->at("y"), rows);
  }

  static void expect_rows(const Tensor& y, int64_t rows) {
    ASSERT_EQ(y.shape(), (Shape{rows, kColumns}));
    const auto got = test::floats(y);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t c = 0; c < kColumns; ++c)
        EXPECT_NEAR(got[static_cast<size_t>(i * kColumns + c)], wanted(i, c), 1e-4)
            << rows << " rows, row " << i;
  }

  const test::TempDir state_;
  test::Judge judge_ = test::all_pass;
  Report report_;
};

TEST_F(RestSessionsOverPocl, RunOnTheDeviceWhatFollowsALengthThatWasComputed) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"));
  expect_right(*session, 5);
  const RunRecord& record = session->record();
  EXPECT_EQ(record.device, "Board");
  EXPECT_EQ(place_of(record, "Expand"), Place::kDevice);
  EXPECT_EQ(place_of(record, "MatMul"), Place::kDevice);
  EXPECT_EQ(place_of(record, "CumSum"), Place::kHost);
  EXPECT_THAT(record.warnings, IsEmpty());
  EXPECT_EQ(std::ranges::count(board.log(), '\n'), 1) << "one device was opened: " << board.log();
}

TEST_F(RestSessionsOverPocl, PlanAFurtherLengthWhenItComesAgain) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"));
  expect_right(*session, 5);
  const size_t place = session->place();
  expect_right(*session, 5);
  EXPECT_EQ(session->place(), place);
  expect_right(*session, 9);
  EXPECT_NE(session->place(), place);
  EXPECT_EQ(place_of(session->record(), "MatMul"), Place::kHost);
  EXPECT_THAT(reason_of(session->record(), "MatMul"), HasSubstr("for the first time"));
  expect_right(*session, 9);
  EXPECT_EQ(place_of(session->record(), "MatMul"), Place::kDevice);
  expect_right(*session, 5);
  EXPECT_EQ(place_of(session->record(), "MatMul"), Place::kDevice) << "its plan was kept";
}

TEST_F(RestSessionsOverPocl, AreRightWhereEachRunHasAnotherLengthAndAllComeAgain) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"));
  for (int turn = 0; turn < 3; ++turn)
    for (const int64_t rows : {1, 2, 3, 7, 16, 33, 0}) expect_right(*session, rows);
}

TEST_F(RestSessionsOverPocl, CompileNothingForAnotherLength) {
  const test::FakeBoard board(
      board_with(R"({"match": {"call": "clBuildProgram"}, "do": {"action": "delay", "ms": 0}})"),
      *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"), {.device = "0", .strict = true});
  expect_right(*session, 20);
  const std::string before = board.log();
  expect_right(*session, 21);
  EXPECT_EQ(place_of(session->record(), "MatMul"), Place::kDevice);
  EXPECT_EQ(board.log(), before);
}

TEST_F(RestSessionsOverPocl, GiveOutputsOfEveryPart) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session =
      open(board, text_to_rows().output("positive").output("n").output("y").output("shape"));
  const auto outputs = session->run(of_length(3));
  ASSERT_TRUE(outputs) << outputs.error().message;
  EXPECT_EQ(outputs->size(), 4u);
  EXPECT_THAT(test::floats(outputs->at("positive")), ElementsAre(1.5F, 1.0F, 0.75F));
  EXPECT_THAT(outputs->at("n").to_i64(), ElementsAre(3));
  EXPECT_THAT(outputs->at("shape").to_i64(), ElementsAre(3, kWidth));
  expect_rows(outputs->at("y"), 3);
}

TEST_F(RestSessionsOverPocl, NameTheNodeWhoseShapeCannotBeAndGoOn) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"), {.device = "0", .strict = true});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const Tensor& bad : {durations(-7, 0, 0), durations(nan, 1, 1), durations(9e17F, 1, 1)}) {
    const auto outputs = session->run({{"durations", bad}, {"x", letter()}});
    ASSERT_FALSE(outputs);
    EXPECT_THAT(outputs.error().message, HasSubstr("Expand_wide"));
    expect_right(*session, 4);
  }
}

TEST_F(RestSessionsOverPocl, FollowOneAnother) {
  test::ModelBuilder model = text_to_rows();
  // z = the places of what is positive in y, times u
  model.constant("u", {2, 3}, {1, 2, 3, 40, 50, 60});
  model.node("Relu", {"y"}, {"p"});
  model.node("NonZero", {"p"}, {"places"});
  test::set_int(model.node("Cast", {"places"}, {"numbers"}), "to", 1);
  model.node("Transpose", {"numbers"}, {"pairs"});
  model.node("MatMul", {"pairs", "u"}, {"z"});
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, model.output("z"));
  for (const int64_t rows : {3, 6, 3, 6}) {
    const auto outputs = session->run(of_length(rows));
    ASSERT_TRUE(outputs) << outputs.error().message;
    std::vector<float> expected;
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t c = 0; c < kColumns; ++c) {
        if (wanted(i, c) <= 0) continue;
        for (const int64_t k : {1, 2, 3})
          expected.push_back(static_cast<float>(k * i + (30 + 10 * k) * c));
      }
    }
    EXPECT_EQ(test::floats(outputs->at("z")), expected);
  }
  EXPECT_EQ(std::ranges::count(session->record().nodes, "MatMul", &NodeRecord::op), 2);
  EXPECT_THAT(session->record().nodes,
              Not(Contains(AllOf(Field(&NodeRecord::op, "MatMul"),
                                 Field(&NodeRecord::place, Place::kHost)))));
}

TEST_F(RestSessionsOverPocl, GoToTheHostWithAllElseOnceTheDeviceIsGone) {
  const test::FakeBoard board(
      board_with(R"({"match": {"call": "clFinish", "file_exists": "$FAKE_CL_STATE/now"},
                     "do": {"action": "error", "code": "CL_OUT_OF_RESOURCES"}},
                    {"match": {"call": "clEnqueueNDRangeKernel", "file_exists": "$FAKE_CL_STATE/now"},
                     "do": {"action": "error", "code": "CL_OUT_OF_RESOURCES"}})"),
      *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"));
  expect_right(*session, 5);
  board.put("now");
  for (const int64_t rows : {5, 6, 5, 6}) expect_right(*session, rows);
  EXPECT_EQ(session->record().device, "host");
  EXPECT_THAT(session->record().nodes, Each(Field(&NodeRecord::place, Place::kHost)));
}

TEST_F(RestSessionsOverPocl, FindAKernelThatIsWrongAndSaySoOnce) {
  const test::FakeBoard board(
      board_with(R"({"match": {"call": "clEnqueueNDRangeKernel", "kernel": "^gemm_local64"},
                     "do": {"action": "wrong_tile", "bytes": 64}})"),
      *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"));
  expect_right(*session, 16);
  EXPECT_THAT(session->record().fallbacks, Contains(Field(&Fallback::node, "MatMul_a")));
  for (const int64_t rows : {16, 8, 8}) expect_right(*session, rows);
  EXPECT_THAT(session->record().warnings, ElementsAre(HasSubstr("gemm_local64")));
}

TEST_F(RestSessionsOverPocl, AreRefusedWhereStrictAndANodeNeedsAFallback) {
  judge_ = [](const Variant& variant) {
    const bool product = variant.name().starts_with("gem");
    return product ? Verdict::kWrong : Verdict::kPass;
  };
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"), {.device = "0", .strict = true});
  const auto outputs = session->run(of_length(5));
  ASSERT_FALSE(outputs);
  EXPECT_EQ(outputs.error().code, ErrorCode::kUnavailable);
  EXPECT_THAT(outputs.error().message, HasSubstr("MatMul_a"));
}

TEST_F(RestSessionsOverPocl, AreRefusedWhereStrictAndNoPartRunsOnADevice) {
  judge_ = [](const Variant&) { return Verdict::kWrong; };
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto strict = open(board, text_to_rows().output("y"), {.device = "0", .strict = true});
  EXPECT_EQ(strict->run(of_length(5)).error().code, ErrorCode::kUnavailable);
  const auto lenient = open(board, text_to_rows().output("y"));
  expect_right(*lenient, 5);
  EXPECT_THAT(lenient->record().warnings, Contains(HasSubstr("runs on the host")));
}

TEST_F(RestSessionsOverPocl, TimeAndProfileTheNodesOfAllParts) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"));
  expect_right(*session, 200);
  ASSERT_TRUE(session->time_nodes(of_length(200)));
  for (const char* op : {"ReduceSum", "CumSum", "MatMul"}) {
    const auto row = std::ranges::find(session->record().nodes, op, &NodeRecord::op);
    ASSERT_NE(row, session->record().nodes.end());
    EXPECT_GT(row->ms, 0) << op;
  }
  const auto profile = session->profile(of_length(200));
  ASSERT_TRUE(profile) << profile.error().message;
  EXPECT_THAT(*profile, Contains(Field(&ProfiledStep::op, "MatMul")));
  EXPECT_THAT(*profile, Contains(Field(&ProfiledStep::op, "ReduceSum")));
}

TEST_F(RestSessionsOverPocl, DoNotComeToAPlanThatIsGiven) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"), {.device = "host"});
  expect_right(*session, 5);
  EXPECT_THAT(session->record().nodes, Each(Field(&NodeRecord::reason, "the host was requested")));
}

TEST_F(RestSessionsOverPocl, AnswerAgainAndSettleAsOneNetwork) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"));
  const Inputs inputs = of_length(6);
  const auto first = session->run(inputs);
  ASSERT_TRUE(first) << first.error().message;
  auto last = session->again(inputs, *first);
  ASSERT_TRUE(last) << last.error().message;
  const auto settled = session->settled(inputs, *last, *first);
  ASSERT_TRUE(settled) << settled.error().message;
  expect_rows(settled->at("y"), 6);
}

TEST_F(RestSessionsOverPocl, LendNoInputThatTheyRead) {
  const test::FakeBoard board(board_with(kQuiet), *test::pocl_library());
  const auto session = open(board, text_to_rows().output("y"));
  expect_right(*session, 5);
  EXPECT_FALSE(session->lend_input("x"));
}

}  // namespace
}  // namespace clvet
