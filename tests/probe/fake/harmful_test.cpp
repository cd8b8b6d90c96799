// Cases, constructs and devices that bring down the probe, or everything.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/probe.h"
#include "probe/report/report.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

// Kills the probe once a rule has fired that it has not met before.
void kill_where_it_hangs(test::Bench& bench, const Words& arguments) {
  const size_t before = bench.driver_pids().size();
  test::Process process(bench.command(arguments), bench.environment());
  while (bench.driver_pids().size() == before && !test::process_gone(process.pid(), 0))
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  ::kill(process.pid(), SIGKILL);
  process.wait();
}

// One of its cases hangs until the supervisor is killed.
class Harmful : public testing::Test {
 protected:
  static constexpr const char* kHarmful = "gemv_split/low/normal/buffer/buffer/float/odd";
  Words arguments() const {
    return {"--case", kHarmful, "--case", "gemv_split/low/low/buffer/buffer/*/odd"};
  }
  void kill_in_the_harmful_case() { kill_where_it_hangs(bench_, arguments()); }
  std::map<std::string, Verdict> verdicts() const {
    std::map<std::string, Verdict> found;
    for (const VerdictReport& row : bench_.report().verdicts) found[row.case_name] = row.verdict;
    return found;
  }
  // Weights that are not quantised, at low precision.
  test::Bench bench_{"none",
                     R"({"rules":[{"match":{"call":"clEnqueueNDRangeKernel","kernel":"gemv_split",
    "constructs_all":["half_arith"],"constructs_none":["int_to_half","quantised"]},
    "do":{"action":"hang"}}]})"};
};

TEST_F(Harmful, CaseIsTriedLastAndAfterTwoInterruptionsNotAgain) {
  kill_in_the_harmful_case();
  kill_in_the_harmful_case();
  const auto done = bench_.probe(arguments());
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_LT(done.seconds, 20) << "it was tried a third time";
  const auto found = verdicts();
  EXPECT_EQ(found.at(kHarmful), Verdict::kInterrupted);
  int others = 0;
  for (const auto& [name, verdict] : found) {
    others += name.find("/float/") == std::string::npos && verdict != Verdict::kMissing;
  }
  EXPECT_EQ(others, 2) << "the others have their verdicts";
  for (const VerdictReport& row : bench_.report().verdicts) {
    if (row.verdict != Verdict::kInterrupted) continue;
    EXPECT_THAT(row.evidence.note, testing::AllOf(HasSubstr("twice"), HasSubstr("--fresh")));
  }
  EXPECT_TRUE(bench_.report().run.counts.contains("interrupted"));
  const size_t firings = bench_.driver_pids().size();
  EXPECT_EQ(bench_.probe(arguments()).exit_code, 1);
  EXPECT_EQ(verdicts().at(kHarmful), Verdict::kInterrupted) << "also a whole probe later";
  EXPECT_EQ(bench_.driver_pids().size(), firings);
}

// Or the same case would bring down each probe before the others have their verdicts.
TEST_F(Harmful, CaseIsTriedAfterAllOthersOnceItBroughtTheProbeDown) {
  const std::string other =
      R"(gemv_split/low/low/buffer/buffer/int4/odd","final":true)";  // begun with no case that
                                                                     // hangs
  kill_in_the_harmful_case();
  ASSERT_THAT(test::get(bench_.state() + "/probe.journal"), testing::Not(HasSubstr(other)));
  kill_in_the_harmful_case();
  EXPECT_THAT(test::get(bench_.state() + "/probe.journal"), HasSubstr(other));
}

TEST(HarmfulPeaks, AreLeftAloneAfterTwoInterruptions) {
  test::Bench bench("none", R"({"rules":[{"match":{"call":"clEnqueueNDRangeKernel",
    "kernel":"clvet_peaks_launch"},"do":{"action":"hang"}}]})");
  const Words few{"--case", "gemv_split/high/normal/buffer/buffer/float/odd"};
  kill_where_it_hangs(bench, few);
  kill_where_it_hangs(bench, few);
  const size_t firings = bench.driver_pids().size();
  const auto done = bench.probe(few);
  EXPECT_EQ(bench.driver_pids().size(), firings) << done.err;
  ASSERT_EQ(bench.report().devices.size(), 1u);
  EXPECT_EQ(bench.report().devices[0].peaks.launch_us, std::nullopt);
}

TEST_F(Harmful, CaseThatTheUserInterruptsIsNotCounted) {
  for (int times = 0; times < 3; ++times) {
    const size_t before = bench_.driver_pids().size();
    test::Process process(bench_.command(arguments()), bench_.environment());
    while (bench_.driver_pids().size() == before)
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ::kill(process.pid(), SIGINT);
    EXPECT_EQ(process.wait(10).exit_code, 130);
  }
  bench_.environment()["FAKE_CL_SCENARIO"] = test::scenario("plain-g78.json");
  bench_.probe(arguments());
  EXPECT_EQ(verdicts().at(kHarmful), Verdict::kWrong) << "what the fast device always gives";
}

TEST_F(Harmful, DeviceIsNotOpenedAgainAfterTwoInterruptions) {
  bench_.environment()["FAKE_CL_SCENARIO"] =
      R"({"rules":[{"match":{"call":"clCreateContext"},"do":{"action":"hang"}}]})";
  kill_in_the_harmful_case();
  kill_in_the_harmful_case();
  const size_t firings = bench_.driver_pids().size();
  const auto done = bench_.probe(arguments());
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_EQ(bench_.driver_pids().size(), firings);
  for (const auto& [name, verdict] : verdicts()) EXPECT_EQ(verdict, Verdict::kInterrupted) << name;
}

int counted(const Report& report, const char* word) {
  const auto found = report.run.counts.find(word);
  return found == report.run.counts.end() ? 0 : found->second;
}

TEST(Everything, ThatCrashesEndsSoonAndSaysWhatWasNotTried) {
  test::Bench bench("none", test::scenario("build-abort.json"));
  const auto done = bench.probe();
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_LT(done.seconds, 60);
  const Report report = bench.report();
  EXPECT_TRUE(report.complete) << "nothing is left for another probe";
  EXPECT_GT(counted(report, "crash"), 3);
  EXPECT_GT(counted(report, "not-tried"), 500);
  EXPECT_EQ(counted(report, "missing"), 0);
}

TEST(Everything, ThatHangsEndsSoon) {
  test::Bench bench("none",
                    R"({"rules":[{"match":{"call":"clBuildProgram"},"do":{"action":"hang"}}]})");
  std::vector<std::unique_ptr<test::ScopedVariable>> variables;
  for (const auto& [name, value] : bench.environment()) {
    variables.push_back(std::make_unique<test::ScopedVariable>(name.c_str(), value));
  }
  ProbeOptions options;
  options.libraries = {FAKE_CL};
  options.state_dir = bench.state();
  options.program = CLVET_PROGRAM;
  constexpr double kClock = 1;  // of 30
  options.limits.build = {kClock, 20};
  options.sink = [](const Event&) {};
  const auto report = probe(options);
  ASSERT_TRUE(report) << report.error().message;
  std::string tried;
  for (const VerdictReport& row : report->verdicts) {
    if (row.attempts > 0)
      tried += fmt::format("{} {} {}\n", row.id, to_string(row.verdict), row.attempts);
  }
  EXPECT_LT(report->run.wall_s, 10 * kClock + 8) << "ten clocks are five minutes\n" << tried;
  EXPECT_GT(counted(*report, "hang"), 0);
  EXPECT_GT(counted(*report, "not-tried"), 500);
}

// A probe that is stopped long before its end.
TEST(OverPocl, AShortProbeOfADriverThatCrashesOnHalfHasABest) {
  const auto pocl = test::pocl_library();
  if (!pocl) GTEST_SKIP() << "PoCL is not installed here";
  test::Bench bench(*pocl, R"({"device":{"extensions_add":["cl_khr_fp16"]},"rules":[
    {"match":{"call":"clBuildProgram","constructs_any":["half_type","half_arith","vload_half"]},
     "do":{"action":"abort"}}]})");
  const auto done = bench.probe({"--budget", "60"});
  EXPECT_EQ(done.exit_code, 0) << done.err;
  const Report report = bench.report();
  ASSERT_EQ(report.devices.size(), 1u);
  ASSERT_TRUE(report.devices[0].best);
  EXPECT_EQ(report.devices[0].best->combination.precision, Precision::kHigh);
  if (!report.complete) {
    EXPECT_THAT(done.out, testing::AnyOf(HasSubstr("right so far"), HasSubstr("every case right")));
  }
}

TEST(HalfCrashes, ArePutOffAndGivenUpWhileTheRestIsTried) {
  test::Bench bench("none", R"({"rules":[{"match":{"call":"clBuildProgram",
    "constructs_any":["half_type","half_arith"]},"do":{"action":"abort"}}]})");
  bench.probe();
  const Report report = bench.report();
  EXPECT_TRUE(report.complete);
  for (const VerdictReport& row : report.verdicts) {
    if (row.verdict == Verdict::kUnsupported) continue;
    const bool half =
        test::has_construct(row, "half_type") || test::has_construct(row, "half_arith");
    const bool ended = row.verdict == Verdict::kCrash || row.verdict == Verdict::kNotTried;
    EXPECT_EQ(half, ended) << row.id << " " << to_string(row.verdict);
  }
  EXPECT_GT(counted(report, "not-tried"), 100);
}

}  // namespace
}  // namespace clvet
