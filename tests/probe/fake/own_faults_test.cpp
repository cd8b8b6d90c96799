// What goes wrong on our side of a probe is said as that, and laid at no driver's door.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "probe/probe.h"
#include "probe/report/report.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

const Words kFew{"--case", "gemv_split/*/odd"};
constexpr const char* kSlowBuilds =
    R"({"rules":[{"match":{"call":"clBuildProgram"},"do":{"action":"delay","ms":50}}]})";

Words through_shell(const std::string& limits, const Words& command) {
  Words words{"/bin/bash", "-c", limits + " && exec \"$0\" \"$@\""};
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

// The program may be replaced by a newer one, or removed, while it probes.
TEST(OwnFault, TheProgramsFileThatIsGoneStopsNothing) {
  test::Bench undisturbed("none", kSlowBuilds), bench("none", kSlowBuilds);
  undisturbed.probe(kFew);
  std::filesystem::copy_file(CLVET_PROGRAM, bench / "clvet");
  Words command = bench.command(kFew);
  command[0] = bench / "clvet";
  test::Process process(command, bench.environment());
  while (test::count(test::get(bench.state() + "/probe.journal"), "\"begin\"") < 4)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  std::filesystem::remove(bench / "clvet");
  test::put(bench / "clvet", "another program");
  const test::Finished done = process.wait();
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_EQ(test::words_of(bench.report()), test::words_of(undisturbed.report()));
}

// Calls the library, since the program itself starts workers from what the kernel has of it.
class OwnFaultOfWorkers : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, value] : bench_.environment()) {
      variables_.push_back(std::make_unique<test::ScopedVariable>(name.c_str(), value));
    }
    options_.libraries = {FAKE_CL};
    options_.cases = {"gemv_split/*/odd"};
    options_.state_dir = bench_.state();
    options_.program = bench_ / "clvet";
    options_.sink = [this](const Event& event) {
      if (event.level == EventLevel::kProgress && ++done_ == 3) at_third_case();
    };
    options_.keep = [this](Report&) {
      kept_ = true;
      return Status();
    };
    std::filesystem::copy_file(CLVET_PROGRAM, bench_ / "clvet");
  }
  virtual void at_third_case() { std::filesystem::remove(bench_ / "clvet"); }
  test::Bench bench_{"none", R"({"rules":[{"match":{"call":"clBuildProgram"},
                             "do":{"action":"abort"}}]})"};
  std::vector<std::unique_ptr<test::ScopedVariable>> variables_;
  ProbeOptions options_;
  int done_ = 0;
  bool kept_ = false;
};

TEST_F(OwnFaultOfWorkers, ThatCannotBeStartedStopsTheProbeAndKeepsWhatWasFound) {
  const auto report = probe(options_);
  ASSERT_FALSE(report) << "the cases left have no verdict";
  EXPECT_EQ(report.error().code, ErrorCode::kInternal);
  EXPECT_THAT(report.error().message, HasSubstr(bench_ / "clvet"));
  EXPECT_THAT(report.error().message, HasSubstr("install clvet again"));
  EXPECT_FALSE(kept_) << "the report of before stands";
  std::filesystem::copy_file(CLVET_PROGRAM, bench_ / "clvet");
  done_ = 10;
  const auto again = probe(options_);
  ASSERT_TRUE(again) << again.error().message;
  for (const VerdictReport& row : again->verdicts) {
    EXPECT_TRUE(row.verdict == Verdict::kCrash || row.verdict == Verdict::kNotTried)
        << row.id << " " << to_string(row.verdict);
  }
  EXPECT_TRUE(kept_);
}

class OwnFaultOfOtherWorkers : public OwnFaultOfWorkers {
 protected:
  void at_third_case() override {
    std::filesystem::remove(bench_ / "clvet");
    test::put(bench_ / "clvet", "#!/bin/sh\nexit 3\n");
    ::chmod((bench_ / "clvet").c_str(), 0755);
  }
};

TEST_F(OwnFaultOfOtherWorkers, WhichAreNoClvetStopTheProbe) {
  const auto report = probe(options_);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().code, ErrorCode::kInternal);
  EXPECT_THAT(report.error().message, HasSubstr("did not come to load a driver"));
}

// The trials' descriptors do not reach a worker that may open no more.
class OwnFaultOfNarrowWorkers : public OwnFaultOfWorkers {
 protected:
  void at_third_case() override {
    std::filesystem::remove(bench_ / "clvet");
    test::put(bench_ / "clvet",
              "#!/bin/sh\nulimit -n 7\nexec '" + std::string(CLVET_PROGRAM) + "' \"$@\"\n");
    ::chmod((bench_ / "clvet").c_str(), 0755);
  }
};

TEST_F(OwnFaultOfNarrowWorkers, WhichCannotTakeATrialStopTheProbe) {
  const auto report = probe(options_);
  ASSERT_FALSE(report) << "no verdict is laid at the driver's door";
  EXPECT_EQ(report.error().code, ErrorCode::kInternal);
  EXPECT_THAT(report.error().message, HasSubstr("ulimit -n"));
  EXPECT_FALSE(kept_) << "the report of before stands";
}

TEST(OwnFault, FewDescriptorsAreEnoughOrAreSaid) {
  test::Bench bench;
  const auto run = [&](const std::string& limits) {
    return test::Process(through_shell(limits, bench.command(kFew)), bench.environment()).wait();
  };
  EXPECT_EQ(run("ulimit -n 500").exit_code, 1);
  EXPECT_EQ(bench.report().devices.size(), 1u);
  EXPECT_EQ(run("ulimit -Sn 20").exit_code, 1) << "the limit is raised";
  const std::string before = test::get(bench.report_path());
  for (const char* limits : {"ulimit -n 8", "ulimit -n 10", "ulimit -n 13"}) {
    const auto done = run(limits);
    EXPECT_TRUE(done.exit_code == 4 || done.exit_code == 1 || done.exit_code == 127)
        << limits << ": " << done.exit_code << " " << done.err;
    if (done.exit_code == 4) {
      EXPECT_THAT(done.err, HasSubstr("ulimit -n")) << limits;
    }
    if (done.exit_code == 4) {
      EXPECT_TRUE(test::get(bench.report_path()) == before) << limits;
    }
  }
}

#if !defined(__SANITIZE_ADDRESS__)  // which reserves terabytes
TEST(OwnFault, LittleMemoryIsEnoughOrIsSaid) {
  for (const char* limit : {"ulimit -v 30000", "ulimit -v 31500", "ulimit -v 44300",
                            "ulimit -v 45000", "ulimit -v 45600", "ulimit -v 90000"}) {
    test::Bench bench;
    const auto done =
        test::Process(through_shell(limit, bench.command(kFew)), bench.environment()).wait();
    EXPECT_TRUE(done.exit_code == 4 || done.exit_code == 1) << limit << ": " << done.exit_code;
    if (done.exit_code == 4) {
      EXPECT_THAT(done.err, HasSubstr("ulimit -v")) << limit;
      EXPECT_FALSE(std::filesystem::exists(bench.report_path())) << limit;
    } else {
      EXPECT_EQ(test::count(test::get(bench.report_path()), "tool-error"), 0u) << limit;
    }
  }
}
#endif

TEST(OwnFault, AReportThatCannotBeWrittenLosesNothing) {
  if (::geteuid() != 0) GTEST_SKIP() << "a small disk is for root to make";
  test::Bench bench("none", kSlowBuilds);
  const std::string script =
      "mkdir -p '" + (bench / "disk") + "' && mount -t tmpfs -o size=64k none '" +
      (bench / "disk") + "' && \"$0\" \"$@\"; code=$?; ls '" + (bench / "disk") + "'; exit $code";
  Words command = bench.command({"--case", "gemv_split"});
  command[5] = bench / "disk/report.json";
  Words words{"/usr/bin/unshare", "-m", "--propagation", "unchanged", "/bin/bash", "-c", script};
  words.insert(words.end(), command.begin(), command.end());
  const auto done = test::Process(words, bench.environment()).wait();
  EXPECT_EQ(done.exit_code, 2) << done.err;
  EXPECT_THAT(done.err, HasSubstr("No space left"));
  const std::string journal = test::get(bench.state() + "/probe.journal");
  EXPECT_GT(test::count(journal, "\"end\""), 20u) << "it holds what was found";
  const auto again = bench.probe({"--case", "gemv_split"});
  EXPECT_EQ(again.exit_code, 1) << again.err;
  EXPECT_EQ(bench.report().run.attempts, 0) << "nothing is tried a second time";
  EXPECT_FALSE(std::filesystem::exists(bench.state() + "/probe.journal"));
}

TEST(OwnFault, AFullDiskUnderTheStateFolderStopsTheProbe) {
  if (::geteuid() != 0) GTEST_SKIP() << "a small disk is for root to make";
  test::Bench bench("none", kSlowBuilds);
  std::filesystem::create_directory(bench.state());
  const std::string script =
      "mount -t tmpfs -o size=100k,mode=700 none '" + bench.state() + "' && exec \"$0\" \"$@\"";
  Words words{"/usr/bin/unshare", "-m", "--propagation", "unchanged", "/bin/bash", "-c", script};
  for (const std::string& word : bench.command({"--case", "gemv_split"})) words.push_back(word);
  const auto done = test::Process(words, bench.environment()).wait();
  EXPECT_TRUE(done.exit_code == 2 || done.exit_code == 4) << done.exit_code << done.err;
  EXPECT_THAT(done.err, HasSubstr("free some space"));
  EXPECT_FALSE(std::filesystem::exists(bench.report_path())) << "no verdict that is not one";
}

TEST(OwnFault, AStateFolderOfOthersIsRefused) {
  test::Bench bench;
  std::filesystem::create_directory(bench.state());
  ASSERT_EQ(::chmod(bench.state().c_str(), 0777), 0);
  const auto done = bench.probe(kFew);
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr(bench.state()));
  EXPECT_THAT(done.err, HasSubstr("CLVET_STATE_DIR"));
  for (const Words& words : {Words{"report", "show"}, Words{"check", "m.gguf"}}) {
    test::put(bench / "m.gguf", "x");
    EXPECT_EQ(bench.run(words).exit_code, 2) << words[0];
  }
}

}  // namespace
}  // namespace clvet
