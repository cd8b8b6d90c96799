// Reports and plans as a program asks for them that has the installed headers alone. What stands in
// for the clvet program is a script here; the real one runs in tests/cli/commands/library_test.cpp.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include "clvet/clvet.h"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/runtime/api/model_files.h"
#include "tests/support.h"

namespace {

using clvet::Error;
using clvet::ErrorCode;
using testing::HasSubstr;

template <class T>
Error refused(const clvet::Result<T>& result) {
  EXPECT_FALSE(result) << "it was allowed";
  return result ? Error{} : result.error();
}

class PublicMachine : public testing::Test {
 protected:
  // A program that does this in place of a probe.
  clvet::ProbeOptions probing(const std::string& script) const {
    const std::string program = folder_ / "clvet";
    clvet::test::put(program, "#!/bin/sh\n" + script);
    ::chmod(program.c_str(), 0700);
    return {.state_dir = folder_.path(), .program = program};
  }
  const clvet::test::TempDir folder_;
};

struct End {
  const char* name;
  const char* script;
  ErrorCode code;
  const char* says;
};

class PublicProbe : public PublicMachine, public testing::WithParamInterface<End> {};

TEST_P(PublicProbe, TellsHowTheProgramEnded) {
  const Error error = refused(clvet::probe(probing(GetParam().script)));
  EXPECT_EQ(error.code, GetParam().code) << error.message;
  EXPECT_THAT(error.message, HasSubstr(GetParam().says));
}

INSTANTIATE_TEST_SUITE_P(
    Of, PublicProbe,
    testing::Values(End{"AWrongOption", "echo 'there is no tier' >&2; exit 2",
                        ErrorCode::invalid_argument, "there is no tier"},
                    End{"AnotherProbe", "echo 'another probe is running'; exit 5", ErrorCode::busy,
                        "another"},
                    End{"AFaultOfItsOwn", "exit 4", ErrorCode::internal, "it said nothing"},
                    End{"ASignal", "kill -9 $$", ErrorCode::internal, "signal 9"},
                    End{"AnUnknownStatus", "exit 99", ErrorCode::internal, "clvet probe"},
                    End{"SuccessWithoutAReport", "exit 0", ErrorCode::not_found, "report.json"},
                    End{"AReportThatIsNone", "echo '{' >$CLVET_STATE_DIR/report.json; exit 0",
                        ErrorCode::invalid_argument, "report.json"},
                    End{"Bytes", "printf 'a\\377b\\n'; exit 4", ErrorCode::internal,
                        "a\xef\xbf\xbd"
                        "b"}),
    [](const auto& info) { return info.param.name; });

TEST_F(PublicMachine, ProbeHandsOnEachLineAndEndsWhereItIsToldTo) {
  clvet::ProbeOptions options =
      probing("trap 'exit 130' INT; echo one; echo two >&2; while :; do sleep 0.05; done");
  std::vector<std::string> lines;
  options.progress = [&](const std::string& line) {
    if (!line.empty()) lines.push_back(line);
    return lines.size() < 2;
  };
  EXPECT_EQ(refused(clvet::probe(options)).code, ErrorCode::cancelled);
  EXPECT_THAT(lines, testing::ElementsAre("one", "two"));
}

TEST_F(PublicMachine, AProbeThatSaysNothingCanBeEndedToo) {
  clvet::ProbeOptions options = probing("while :; do sleep 0.05; done");
  options.progress = [](const std::string&) { return false; };
  EXPECT_EQ(refused(clvet::probe(options)).code, ErrorCode::cancelled);
}

TEST_F(PublicMachine, AProgressFunctionThatThrowsEndsTheProbeAndIsAnErrorOfTheCall) {
  clvet::ProbeOptions options = probing(
      "trap 'touch $CLVET_STATE_DIR/ended; exit 130' INT; echo one; while :; do sleep 0.05; done");
  options.progress = [](const std::string&) -> bool {
    throw std::runtime_error("the log is full");
  };
  const Error error = refused(clvet::probe(options));
  EXPECT_EQ(error.code, ErrorCode::invalid_argument);
  EXPECT_THAT(error.message, HasSubstr("progress threw: the log is full"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "ended"));
}

TEST_F(PublicMachine, AProbeThatDiesOfBeingToldToEndIsCancelled) {
  clvet::ProbeOptions options = probing("echo one; while :; do sleep 0.05; done");
  options.progress = [](const std::string&) { return false; };
  EXPECT_EQ(refused(clvet::probe(options)).code, ErrorCode::cancelled);
}

TEST_F(PublicMachine, ProbeHandsItsOptionsOnOneByOne) {
  clvet::ProbeOptions options = probing("for word; do echo \"$word\"; done; exit 4");
  options.libraries = {"/a b/libmali.so", "--help"};
  options.device = "Mali; rm";
  options.tier = "full";
  options.budget_seconds = 2.5;
  options.fresh = options.if_changed = true;
  options.report = "r 1.json";
  std::vector<std::string> words;
  options.progress = [&](const std::string& line) {
    words.push_back(line);
    return true;
  };
  EXPECT_FALSE(clvet::probe(options));
  EXPECT_THAT(words,
              testing::ElementsAre("probe", "--lang=en", "--tier=full", "--out=r 1.json",
                                   "--device=Mali; rm", "--budget=2.5", "--fresh", "--if-changed",
                                   "--library=/a b/libmali.so", "--library=--help"));
}

TEST_F(PublicMachine, ProbeDoesNotWaitForWhatTheProgramLeftBehind) {
  const auto started = std::chrono::steady_clock::now();
  EXPECT_FALSE(clvet::probe(probing("sleep 30 & exit 4")));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(20));
}

TEST_F(PublicMachine, ProbeSaysWhereThereIsNoProgram) {
  const Error error =
      refused(clvet::probe({.state_dir = folder_.path(), .program = "/nowhere/clvet"}));
  EXPECT_EQ(error.code, ErrorCode::not_found);
  EXPECT_THAT(error.message, HasSubstr("/nowhere/clvet"));
}

TEST_F(PublicMachine, ProbeRefusesWordsThatThereAreNot) {
  clvet::ProbeOptions options = probing("exit 0");
  options.tier = "huge";
  EXPECT_EQ(refused(clvet::probe(options)).code, ErrorCode::invalid_argument);
  options.tier = "core";
  options.budget_seconds = -1;
  EXPECT_EQ(refused(clvet::probe(options)).code, ErrorCode::invalid_argument);
}

TEST_F(PublicMachine, ThereIsNoReportBeforeAProbe) {
  const Error error = refused(clvet::read_report({}, folder_.path()));
  EXPECT_EQ(error.code, ErrorCode::unavailable);
  EXPECT_THAT(error.message, HasSubstr("'clvet probe' makes one"));
  EXPECT_EQ(refused(clvet::read_report("/nowhere/r.json")).code, ErrorCode::not_found);
}

TEST_F(PublicMachine, PlansForTheHostWithoutAReport) {
  const auto plan = clvet::plan(clvet::test::write_doubling(folder_.path()),
                                {.device = "host", .shapes = {{"x", {2, 2}}}});
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_THAT(*plan, HasSubstr("clvet.plan/1"));
}

TEST_F(PublicMachine, RefusesToPlanWhatItDoesNotKnow) {
  const std::string model = clvet::test::write_doubling(folder_.path());
  EXPECT_THAT(refused(clvet::plan(model, {.device = "host"})).message, HasSubstr("'x' are open"));
  EXPECT_EQ(refused(clvet::plan("/nowhere/m.onnx", {.device = "host"})).code, ErrorCode::not_found);
  EXPECT_EQ(refused(clvet::plan("/dev/zero", {.device = "host"})).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(clvet::plan(model, {.device = "host", .precision = "fp16"})).code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(refused(clvet::plan(model, {.report = "/nowhere/r.json"})).code, ErrorCode::not_found);
  EXPECT_EQ(refused(clvet::plan(model, {.state_dir = folder_.path()})).code,
            ErrorCode::unavailable);
}

}  // namespace
