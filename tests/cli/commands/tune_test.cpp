// Over the hostile driver, in front of PoCL: the kernels really run.
#include <gmock/gmock.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
#include "probe/report/tuned.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

// The kernel of gemm_local32 at its work-group of 8x8x4, which no other variant has.
const std::string kPoint = R"("kernel": "^gemm_local64$", "options_regex": "GX=8 .*GY=8 ")";
const std::string kTempting = "gemm_local32/high/normal/buffer/buffer/float";

class TuneCommand : public testing::Test {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
    test::ModelBuilder model;
    model.input("x", {16, 24}).output("y");
    model.constant("w", {24, 32}, std::vector<float>(24 * 32, 0.25f));
    model.node("MatMul", {"x", "w"}, {"y"});
    test::put(model_, model.bytes());
    std::filesystem::create_directories(bench_.state());
    std::filesystem::permissions(bench_.state(), std::filesystem::perms::owner_all);
    ASSERT_EQ(bench_.probe({"--case", "gemm*/high/normal/buffer/buffer/float"}).exit_code, 0);
    EXPECT_THAT(planned(), Not(HasSubstr("gemm_local32")));
  }

  // What is `rule` happens; every other kernel is slow.
  std::string scenario(const std::string& rule) const {
    return R"({"rules": [)" + rule + R"(, {"match": {"call": "clEnqueueNDRangeKernel",
      "kernel": "gemm_tile|gemm_layers"}, "do": {"action": "delay", "ms": 4}}]})";
  }
  std::string at_point(const std::string& action) const {
    return R"({"match": {"call": "clEnqueueNDRangeKernel", )" + kPoint + R"(}, "do": )" + action +
           "}";
  }
  test::Finished tune(const std::string& scenario, const std::string& seconds = "240") {
    bench_.environment()["FAKE_CL_SCENARIO"] = scenario;
    auto done = bench_.run({"tune", model_, "--seconds", seconds, "--report", bench_.report_path(),
                            "--json", bench_ / "tune.json"});
    bench_.environment().erase("FAKE_CL_SCENARIO");
    return done;
  }
  nlohmann::json document() const {
    return nlohmann::json::parse(test::get(bench_ / "tune.json"), nullptr, false);
  }
  // The verdict of a variant, and whether it runs from now on.
  std::string verdict_of(const std::string& variant) const {
    const nlohmann::json record = document();
    for (const auto& row : record["tuned"][0]["variants"]) {
      if (row["variant"] == variant) return row["verdict"];
    }
    return "not there";
  }
  std::string planned() {
    const auto done = bench_.run({"plan", model_, "--report", bench_.report_path(), "--json", "-"});
    EXPECT_EQ(done.exit_code, 0) << done.err;
    const auto plan = nlohmann::json::parse(done.out, nullptr, false);
    for (const auto& step : plan["phases"][0]["steps"]) {
      if (step["kind"] == "kernel" && step["op"] == "gemm") return step["variant"];
    }
    return "no kernel";
  }

  test::Bench bench_{test::pocl_library().value_or("none")};
  const std::string model_ = bench_ / "m.onnx";
};

TEST_F(TuneCommand, FindsTheKernelThatIsFastestHereAndPlansItFromThenOnOverPocl) {
  const std::string before = planned();
  const auto done = tune(scenario(at_point(R"({"action": "stdout", "text": ""})")));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto record = document();
  EXPECT_EQ(record["schema"], "clvet.tune/1");
  ASSERT_THAT(record["tuned"], SizeIs(1));
  EXPECT_EQ(record["tuned"][0]["untuned"], before);
  EXPECT_EQ(planned(), record["tuned"][0]["tuned"]);
  EXPECT_THAT(planned(), HasSubstr("gemm_local"));
  EXPECT_LT(record["tuned_ms"], record["untuned_ms"]);
  EXPECT_THAT(done.out,
              AllOf(HasSubstr("1 of 1 calls measured"), HasSubstr("in place of " + before)));
  EXPECT_EQ(bench_.run({"cache", "clear"}).exit_code, 0);
  EXPECT_EQ(planned(), before) << "nothing is left";
}

TEST_F(TuneCommand, NeverServesThePointThatIsWrongAtOneWorkGroupSizeOnlyOverPocl) {
  const auto done = tune(scenario(at_point(R"({"action": "wrong_tile", "bytes": 16})")));
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(verdict_of(kTempting), "wrong");
  EXPECT_THAT(done.err, HasSubstr("kernel " + kTempting + " is not used any more: wrong"));
  EXPECT_THAT(planned(), Not(HasSubstr("gemm_local32")));
  // Nor after the driver was mended, nor with times of elsewhere.
  ASSERT_EQ(tune(scenario(at_point(R"({"action": "stdout", "text": ""})"))).exit_code, 0);
  EXPECT_THAT(planned(), Not(HasSubstr("gemm_local32")));
}

// The first two runs are right.
TEST_F(TuneCommand, NeverServesAKernelThatSkipsItsLaunchesWhileItIsTimedOverPocl) {
  const std::string rule = R"({"match": {"call": "clEnqueueNDRangeKernel", )" + kPoint +
                           R"(, "count": {"from": 3}}, "do": {"action": "skip"}})";
  ASSERT_EQ(tune(scenario(rule)).exit_code, 0);
  EXPECT_THAT(verdict_of(kTempting), AnyOf("wrong", "nondeterministic"));
  EXPECT_THAT(planned(), Not(HasSubstr("gemm_local32")));
}

TEST_F(TuneCommand, LosesACandidateThatCrashesAndNoOtherOverPocl) {
  for (const char* count : {"1", R"({"from": 5})"}) {
    const std::string rule = R"({"match": {"call": "clEnqueueNDRangeKernel", )" + kPoint +
                             R"(, "count": )" + count + R"(}, "do": {"action": "segfault"}})";
    const auto done = tune(scenario(rule));
    ASSERT_EQ(done.exit_code, 0) << done.err;
    EXPECT_EQ(verdict_of(kTempting), "crash") << count;
    EXPECT_THAT(document()["tuned"], SizeIs(1));
    EXPECT_GE(document()["tuned"][0]["variants"][0]["rounds"], 5);
    EXPECT_THAT(planned(), Not(HasSubstr("gemm_local32")));
    bench_.run({"cache", "clear"});
    std::filesystem::remove(bench_.state() + "/tombstones.json");
  }
}

// All kernels take as long, so that they are close.
TEST_F(TuneCommand, MeasuresCloseKernelsAgainAndLosesOneThatCrashesThenOverPocl) {
  const std::string alike = R"({"match": {"call": "clEnqueueNDRangeKernel", "kernel": "^gemm_"},
      "do": {"action": "delay", "ms": 4}})";
  const std::string later = R"({"match": {"call": "clEnqueueNDRangeKernel", )" + kPoint +
                            R"(, "count": {"from": 60}}, "do": {"action": "segfault"}})";
  const auto done = tune(R"({"rules": [)" + later + ", " + alike + "]}");
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_EQ(verdict_of(kTempting), "crash");
  const nlohmann::json record = document();
  EXPECT_GT(record["tuned"][0]["variants"][0]["rounds"], 41);
  EXPECT_THAT(planned(), Not(HasSubstr("gemm_local32")));
}

TEST_F(TuneCommand, KeepsWhatItKnowsWhereTheDeviceIsLostInALaterSittingOverPocl) {
  const std::string crash = R"({"match": {"call": "clEnqueueNDRangeKernel", )" + kPoint +
                            R"(, "count": {"from": 60}}, "do": {"action": "segfault",
      "once_file": "$FAKE_CL_STATE/lost"}})";
  const std::string lost = R"({"match": {"call": "clCreateContext",
      "file_exists": "$FAKE_CL_STATE/lost"}, "do": {"action": "segfault"}})";
  const std::string alike = R"({"match": {"call": "clEnqueueNDRangeKernel", "kernel": "^gemm_"},
      "do": {"action": "delay", "ms": 4}})";
  const auto done = tune(R"({"rules": [)" + crash + ", " + lost + ", " + alike + "]}");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the device could not be opened: clCreateContext: signal 11"));
  EXPECT_EQ(verdict_of(kTempting), "crash");
  EXPECT_THAT(planned(), Not(HasSubstr("gemm_local32")));
}

TEST_F(TuneCommand, OpensADeviceAgainThatFailedToOpenOnceOverPocl) {
  const auto done = tune(scenario(R"({"match": {"call": "clCreateContext"},
      "do": {"action": "segfault", "once_file": "$FAKE_CL_STATE/died"}})"));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_TRUE(std::filesystem::exists(bench_ / "died"));
  EXPECT_THAT(document()["tuned"], SizeIs(1));
}

TEST_F(TuneCommand, SaysWhichCallKeepsADeviceFromOpeningOverPocl) {
  const auto done = tune(scenario(R"({"match": {"call": "clCreateContext"},
      "do": {"action": "segfault"}})"));
  EXPECT_EQ(done.exit_code, 3) << done.err;
  EXPECT_THAT(done.err, HasSubstr("the device could not be opened: clCreateContext: signal 11 "
                                  "ended the process; run 'clvet probe' again"));
}

TEST_F(TuneCommand, EndsInTimeWhereACandidateHangsOverPocl) {
  const auto done = tune(scenario(at_point(R"({"action": "hang"})")), "6");
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_LT(done.seconds, 20);
  EXPECT_THAT(planned(), Not(HasSubstr("gemm_local32")));
}

TEST_F(TuneCommand, SaysThatADocumentIsDamagedAndGoesOnWithoutItOverPocl) {
  test::put(tuned_file(bench_.state()), "{\"schema\": \"clvet.tu");
  std::filesystem::permissions(tuned_file(bench_.state()), std::filesystem::perms::owner_read |
                                                               std::filesystem::perms::owner_write);
  const auto done = tune(scenario(at_point(R"({"action": "stdout", "text": ""})")));
  EXPECT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.err, HasSubstr("holds no times that 'clvet tune' wrote"));
  EXPECT_TRUE(std::filesystem::exists(tuned_file(bench_.state()) + ".damaged"));
  EXPECT_THAT(planned(), HasSubstr("gemm_local"));
}

TEST_F(TuneCommand, SharesTimesWithALikeBoardWhichTrustsItsOwnChecksAloneOverPocl) {
  const std::string before = planned(), file = bench_ / "times.json";
  EXPECT_EQ(bench_.run({"cache", "export-times", file}).exit_code, 2) << "there are none";
  ASSERT_EQ(tune(scenario(at_point(R"({"action": "stdout", "text": ""})"))).exit_code, 0);
  const std::string tuned = planned();
  ASSERT_EQ(bench_.run({"cache", "export-times", file}).exit_code, 0);
  bench_.run({"cache", "clear"});
  const std::vector<std::string> import{"cache", "import-times", file, "--report",
                                        bench_.report_path()};
  const auto taken = bench_.run(import);
  EXPECT_EQ(taken.exit_code, 0) << taken.err;
  EXPECT_THAT(taken.out, HasSubstr("the times of 1 calls taken"));
  const bool tried_here = test::words_of(bench_.report()).contains("d0/" + tuned + "/square");
  if (!tried_here) EXPECT_EQ(planned(), before) << "no kernel that this machine did not check";
  auto foreign = nlohmann::json::parse(test::get(file));
  std::string text = foreign.dump();
  const std::string key = bench_.report().devices[0].environment_key;
  while (text.find(key) != std::string::npos) text.replace(text.find(key), 4, "0000");
  test::put(file, text);
  const auto refused = bench_.run(import);
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.out, HasSubstr("1 calls refused: it was measured with another driver"));
}

TEST(TuneUsage, IsToldApartFromFaults) {
  test::Bench bench;
  EXPECT_EQ(bench.run({"tune"}).exit_code, 2);
  EXPECT_EQ(bench.run({"tune", bench / "none.onnx"}).exit_code, 2);
  EXPECT_EQ(bench.run({"tune", bench / "none.onnx", "--seconds", "0"}).exit_code, 2);
  EXPECT_EQ(bench.run({"tune", bench / "none.onnx", "--seconds", "nan"}).exit_code, 2);
}

}  // namespace
}  // namespace clvet
