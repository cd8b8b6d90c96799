// `clvet bench` as scripts meet it, on the host.
#include <gmock/gmock.h>
#include <signal.h>
#include <unistd.h>

#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "tests/probe/fake/helpers.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/model_builder.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

class BenchCommand : public testing::Test {
 protected:
  BenchCommand() {
    test::ModelBuilder model;
    model.input("x", {1, -1}).output("y");
    model.node("Relu", {"x"}, {"y"});
    test::put(onnx_, model.bytes());
    test::put(gguf_, test::noisy_model("llama").bytes());
  }
  test::Finished run(std::vector<std::string> more) {
    more.insert(more.begin(), "bench");
    more.insert(more.end(), {"--device", "host"});
    return bench_.run(more);
  }
  test::Bench bench_;
  const std::string onnx_ = bench_ / "m.onnx", gguf_ = bench_ / "m.gguf";
};

TEST_F(BenchCommand, TimesANetworkAsOftenAsWasAskedFor) {
  for (const std::string warm_up : {"0", "3"}) {
    const auto done = run({onnx_, "--shape", "x=1x4", "--warm-up", warm_up, "--repeat", "5",
                           "--threads", "2", "--json", "-"});
    ASSERT_EQ(done.exit_code, 0) << done.err;
    const Json json = Json::parse(done.out);
    EXPECT_EQ(json.at("measurements").at(0).at("samples_ms").size(), 5u) << warm_up;
    EXPECT_EQ(json.at("measurements").at(0).at("count"), 5);
    EXPECT_EQ(json.at("inputs").at(0).at("shape"), Json({1, 4}));
    EXPECT_EQ(json.at("threads"), 2);
    EXPECT_EQ(json.at("seed"), 0);
  }
}

TEST_F(BenchCommand, ProfilesTheStepsOfANetworkAndRefusesThoseOfALanguageModel) {
  const auto done =
      run({onnx_, "--shape", "x=1x4", "--profile", bench_ / "t.json", "--json", bench_ / "b.json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("the slowest of 1 steps"));
  EXPECT_THAT(test::get(bench_ / "t.json"), HasSubstr("\"traceEvents\""));
  const Json step = Json::parse(test::get(bench_ / "b.json")).at("profile").at(0);
  EXPECT_EQ(step.at("op"), "Relu");
  EXPECT_EQ(step.at("kind"), "host");
  EXPECT_TRUE(step.at("bound_ms").is_null());
  const auto refused = run({gguf_, "--profile", bench_ / "t.json"});
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("--profile is for networks"));
}

TEST_F(BenchCommand, TimesThePromptAndEachTokenButTheFirst) {
  const auto done = run({gguf_, "--prompt-tokens", "5", "-n", "4", "--repeat", "3", "--csv",
                         bench_ / "b.csv", "--json", bench_ / "b.json"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("tokens/s"));
  EXPECT_THAT(test::get(bench_ / "b.csv"), HasSubstr(",token,9,"));
  const Json json = Json::parse(test::get(bench_ / "b.json"));
  const Json& rows = json.at("measurements");
  EXPECT_EQ(rows.at(0).at("count"), 3);
  EXPECT_EQ(rows.at(0).at("tokens"), 5);
  EXPECT_EQ(rows.at(1).at("count"), 3 * 3);
}

TEST_F(BenchCommand, SaysWhatItCannotDo) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> rows{
      {{onnx_}, "the extents of input 'x' are open"},
      {{onnx_, "--shape", "z=1"}, "input"},
      {{onnx_, "--shape", "x=1x2x3"}, "x"},
      {{onnx_, "--prompt", "a"}, "--prompt is for GGUF models"},
      {{gguf_, "--input", "x=a.npy"}, "takes --prompt"},
      {{gguf_, "--csv", "-", "--json", "-"}, "only one of --json, --csv and --profile"},
      {{gguf_, "--csv", "/nonexistent/a.csv"}, "/nonexistent/a.csv"},
      {{gguf_, "-n", "1"}, "-n"},
      {{gguf_, "--prompt-tokens", "1000000"}, ""},
      {{bench_ / "absent.onnx"}, "absent.onnx"}};
  for (const auto& [words, message] : rows) {
    const auto done = run(words);
    EXPECT_EQ(done.exit_code, 2) << message;
    EXPECT_THAT(done.err, HasSubstr(message));
  }
}

TEST_F(BenchCommand, PrintsWhatWasMeasuredUntilAnInterrupt) {
  const std::string json = bench_ / "b.json";
  test::Process bench({CLVET_PROGRAM, "bench", onnx_, "--shape", "x=1x100000", "--repeat",
                       "1000000", "--device", "host", "--json", json},
                      bench_.environment());
  ::usleep(1'000'000);
  ::kill(bench.pid(), SIGINT);
  EXPECT_EQ(bench.wait().exit_code, 130);
  const Json record = Json::parse(test::get(json));
  EXPECT_EQ(record.at("interrupted"), true);
  EXPECT_GT(record.at("measurements").at(0).at("count"), 0);
  EXPECT_LT(record.at("measurements").at(0).at("count"), 1000000);
}

}  // namespace
}  // namespace clvet
