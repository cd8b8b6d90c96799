// kill -9 of the supervisor at random moments, each followed by another probe: in the end the
// verdict words are those of a probe that nobody disturbed.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "probe/process/process.h"
#include "probe/report/report.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using Words = std::vector<std::string>;

// Crash, exit, error, refusal, lie and wrong outputs side by side, slow enough to be hit in the
// middle of anything.
constexpr const char* kMixed = R"({"rules":[
  {"match":{"call":"clBuildProgram"},"do":{"action":"delay","ms":4}},
  {"match":{"call":"clEnqueueNDRangeKernel"},"do":{"action":"delay","ms":1}},
  {"match":{"call":"clBuildProgram","constructs_all":["half_arith","int4_weights"]},"do":{"action":"abort"}},
  {"match":{"call":"clFinish","constructs_all":["half_arith","int8_weights"]},"do":{"action":"exit","status":0}},
  {"match":{"call":"clEnqueueNDRangeKernel","constructs_all":["image_half","int8_weights"]},
   "do":{"action":"segfault"}},
  {"match":{"call":"clEnqueueNDRangeKernel","constructs_all":["image_float","int4_weights"]},
   "do":{"action":"error","code":"CL_OUT_OF_RESOURCES"}},
  {"match":{"call":"clBuildProgram","constructs_all":["vload_half","int4_weights"]},
   "do":{"action":"build_error","log":"error: no\n"}},
  {"match":{"call":"clCreateKernel","constructs_all":["image_float","int8_weights"]},
   "do":{"action":"null_success"}}]})";

struct Setting {
  std::string target, scenario;
  Words cases;
  int kills = 20;
};

// The words of an undisturbed probe, and how much work it is.
struct Undisturbed {
  std::map<std::string, std::string> words;
  int attempts = 0;
  double seconds = 0;
};

Undisturbed undisturbed(const Setting& setting) {
  test::Bench bench(setting.target, setting.scenario);
  const auto done = bench.probe(setting.cases);
  EXPECT_TRUE(done.exit_code == 0 || done.exit_code == 1) << done.err;
  const Report report = bench.report();
  return {test::words_of(report), report.run.attempts, done.seconds};
}

int attempts_begun(const test::Bench& bench) {
  return static_cast<int>(test::count(test::get(bench.state() + "/probe.journal"), "\"begin\""));
}

// Kills a probe some seconds after it has begun so many attempts; progress and not time, since the
// machine may be slower or faster than it was for the undisturbed probe.
void kill_after(test::Bench& bench, const Setting& setting, int attempts, double seconds) {
  test::Process victim(bench.command(setting.cases), bench.environment());
  while (attempts_begun(bench) < attempts && !test::process_gone(victim.pid(), 0)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  ::kill(victim.pid(), SIGKILL);
  victim.wait();
  for (const pid_t pid : bench.driver_pids()) {
    EXPECT_TRUE(test::process_gone(pid, 5)) << "worker " << pid << " outlives its supervisor";
  }
}

// Where both kills hit the same case, it is called interrupted, and rightly so.
std::map<std::string, std::string> words_but_interrupted(const Report& report,
                                                         const Undisturbed& wanted, int allowed) {
  auto words = test::words_of(report);
  for (auto& [name, word] : words) {
    if (word.starts_with("interrupted") && allowed-- > 0) word = wanted.words.at(name);
  }
  return words;
}

void expect_the_same_words_after_kills(const Setting& setting) {
  const Undisturbed wanted = undisturbed(setting);
  ASSERT_GE(wanted.words.size(), 20u);
  std::mt19937 random(20241121);
  const auto some = [&](double most) {
    return std::uniform_real_distribution<double>(0, most)(random);
  };
  int resumed = 0;
  for (int i = 0; i < setting.kills; ++i) {
    test::Bench bench(setting.target, setting.scenario);
    // Every fifth dies early, before or while the device is looked at; every other one dies twice.
    const int first = i % 5 == 0 ? 0 : static_cast<int>(some(wanted.attempts));
    kill_after(bench, setting, first, some(wanted.seconds / (i % 5 == 0 ? 5 : wanted.attempts)));
    const int second = attempts_begun(bench) + static_cast<int>(some(wanted.attempts - first));
    if (i % 2) kill_after(bench, setting, second, some(wanted.seconds / wanted.attempts));
    resumed += std::filesystem::exists(bench.state() + "/probe.journal");
    const auto done = bench.probe(setting.cases);
    ASSERT_TRUE(done.exit_code == 0 || done.exit_code == 1) << done.err;
    EXPECT_EQ(words_but_interrupted(bench.report(), wanted, i % 2), wanted.words)
        << "killed after " << first << " attempts and, where i is odd, " << second << "; i = " << i;
    EXPECT_EQ(test::count(test::get(bench.state() + "/probe.journal"), "\"begin\""), 0u)
        << "the work is done";
  }
  EXPECT_GE(resumed, setting.kills / 2) << "kills that left something to resume";
}

TEST(Kill, OfTheSupervisorAtRandomMomentsNeverChangesAVerdict) {
  const Setting setting{
      "none", kMixed, {"--case", "gemv_split/*/odd", "--case", "pool_global_texel/*/odd"}};
  const auto words = undisturbed(setting).words;
  std::set<std::string> kinds;
  for (const auto& [name, word] : words) kinds.insert(word.substr(0, word.find(' ')));
  EXPECT_THAT(kinds,
              testing::IsSupersetOf({"crash", "launch-error", "build-error", "lie", "wrong"}));
  EXPECT_GE(words.size(), 40u);
  expect_the_same_words_after_kills(setting);
}

TEST(KillNightly, OverARealDriverNeverChangesAVerdict) {
  const auto pocl = test::pocl_library();
  if (!pocl) GTEST_SKIP() << "PoCL is not installed here";
  // Nothing misbehaves but two kinds of variants.
  const Setting setting{*pocl,
                        R"({"rules":[
      {"match":{"call":"clBuildProgram","constructs_all":["vload_half","int4_weights"]},"do":{"action":"abort"}},
      {"match":{"call":"clEnqueueNDRangeKernel","constructs_all":["image_float","int8_weights"]},
       "do":{"action":"zeros"}}]})",
                        {}};
  expect_the_same_words_after_kills(setting);
}

TEST(Interrupt, StopsAtOnceLeavesNoChildAndIsGoneOnFrom) {
  const Setting setting{"none", kMixed, {"--case", "gemv_split/*/odd"}};
  const Undisturbed wanted = undisturbed(setting);
  for (const int number : {SIGINT, SIGTERM}) {
    test::Bench bench(setting.target, setting.scenario);
    test::Process process(bench.command(setting.cases), bench.environment());
    std::this_thread::sleep_for(std::chrono::duration<double>(wanted.seconds / 2));
    ::kill(process.pid(), number);
    const auto done = process.wait(5);
    EXPECT_EQ(done.exit_code, 130) << done.err;
    EXPECT_THAT(done.err, testing::HasSubstr("interrupted"));
    for (const pid_t pid : bench.driver_pids()) EXPECT_TRUE(test::process_gone(pid, 0)) << pid;
    const Report partial = bench.report();
    EXPECT_FALSE(partial.complete);
    EXPECT_EQ(bench.probe(setting.cases).exit_code, 1);
    EXPECT_EQ(test::words_of(bench.report()), wanted.words);
  }
}

TEST(Interrupt, InTheMiddleOfAHangIsObeyed) {
  test::Bench bench("none", test::scenario("build-hang.json"));
  test::Process process(bench.command({"--case", "gemv_split/low"}), bench.environment());
  while (bench.log().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(process.pid(), SIGINT);
  const auto done = process.wait(5);
  EXPECT_EQ(done.exit_code, 130);
  EXPECT_LT(done.seconds, 4);
  for (const pid_t pid : bench.driver_pids()) EXPECT_TRUE(test::process_gone(pid, 0)) << pid;
}

// A case that stops the machine: the driver hangs, everything is killed, and the boot has another
// name.
class BoardReset : public testing::Test {
 protected:
  static constexpr const char* kCase = "gemv_split/low/normal/buffer/buffer/float/odd";
  std::string journal() const { return bench_.state() + "/probe.journal"; }
  std::vector<std::string> arguments() const { return {"--case", kCase}; }
  // Probes until `firings` builds hang, ends all of it, and lets the machine start anew.
  void reset_during(size_t firings) {
    test::Process process(bench_.command(arguments()), bench_.environment());
    while (firings_now() < firings) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    ::kill(process.pid(), SIGKILL);
    process.wait();
    std::string text = test::get(journal());
    for (size_t at = 0; (at = text.find(boot_id())) != std::string::npos;) {
      text.replace(at, boot_id().size(), "an-earlier-boot");
    }
    test::put(journal(), text);
  }
  // The case is tried once in a process.
  size_t firings_now() const { return bench_.driver_pids().size(); }
  test::Bench bench_{"none", test::scenario("build-hang.json")};
};

TEST_F(BoardReset, IsConfirmedByOneCarefulRetryAndThenNotTriedAgain) {
  reset_during(1);
  EXPECT_THAT(test::get(journal()), testing::Not(testing::HasSubstr("\"careful\":true")));
  reset_during(2);
  EXPECT_THAT(test::get(journal()), testing::HasSubstr("\"careful\":true"));
  EXPECT_EQ(bench_.probe(arguments()).exit_code, 1);
  EXPECT_EQ(firings_now(), 2u) << "it was tried a third time";
  const Report report = bench_.report();
  ASSERT_EQ(report.verdicts.size(), 1u);
  EXPECT_EQ(report.verdicts[0].verdict, Verdict::kBoardReset);
  EXPECT_EQ(report.verdicts[0].stage, Stage::kBuild);
  EXPECT_EQ(report.verdicts[0].evidence.call, "clBuildProgram");
}

TEST_F(BoardReset, ThatDoesNotComeAgainIsForgotten) {
  reset_during(1);
  bench_.environment()["FAKE_CL_SCENARIO"] = test::scenario("plain-g78.json");
  EXPECT_EQ(bench_.probe(arguments()).exit_code, 1);
  EXPECT_EQ(bench_.report().verdicts.at(0).verdict, Verdict::kWrong)
      << "what the fast device always gives";
}

TEST_F(BoardReset, IsNotSuspectedWhereOnlyTheSupervisorWasKilled) {
  test::Process process(bench_.command(arguments()), bench_.environment());
  while (firings_now() < 1) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ::kill(process.pid(), SIGKILL);
  process.wait();
  bench_.environment()["FAKE_CL_SCENARIO"] = test::scenario("build-segfault-half.json");
  bench_.probe(arguments());
  const Report report = bench_.report();
  EXPECT_EQ(report.verdicts.at(0).verdict, Verdict::kCrash);
  EXPECT_EQ(report.verdicts.at(0).attempts, 2) << "the interrupted one does not count";
}

}  // namespace
}  // namespace clvet
