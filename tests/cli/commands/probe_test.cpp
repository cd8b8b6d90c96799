// `clvet probe` as scripts meet it: exit codes, files, options.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "kernels/catalog.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kFew{"--case", "gemv_split/high/normal/buffer/buffer/float"};

// One line that names the file, and no driver was ever loaded.
void expect_refused_before_any_work(const test::Bench& bench, const test::Finished& done,
                                    const std::string& named) {
  EXPECT_EQ(done.exit_code, 2) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << done.err;
  EXPECT_THAT(done.err, HasSubstr(named));
  EXPECT_EQ(bench.log(), "") << "a driver was loaded";
}

constexpr const char* kNoticed =
    R"({"rules":[{"match":{"call":"load"},"do":{"action":"delay","ms":1}}]})";

TEST(ProbeCommand, RefusesAReportThatCannotBeWrittenBeforeAnyWork) {
  test::Bench bench("none", kNoticed);
  std::filesystem::create_directory(bench / "folder");
  test::put(bench / "file", "x");
  for (const std::string& path :
       {std::string("/nonexistent/report.json"), bench / "folder", bench / "file/report.json"}) {
    for (const char* option : {"--out", "--json"}) {
      const auto done = bench.run({"probe", "--library", FAKE_CL, option, path});
      expect_refused_before_any_work(bench, done, path);
    }
  }
  EXPECT_EQ(test::get(bench / "file"), "x");
}

TEST(ProbeCommand, RefusesAStateFolderThatCannotBeWrittenBeforeAnyWork) {
  test::Bench bench("none", kNoticed);
  test::put(bench / "file", "x");
  for (const std::string& path :
       {bench / "file", bench / "file/below", std::string("/proc/clvet")}) {
    bench.environment()["CLVET_STATE_DIR"] = path;
    expect_refused_before_any_work(bench, bench.probe(kFew), path);
  }
}

TEST(ProbeCommand, RefusesAForeignJournalAndSaysHowToGoOn) {
  test::Bench bench("none", kNoticed);
  std::filesystem::create_directory(bench.state());
  test::put(bench.state() + "/probe.journal", "my notes\n");
  const auto done = bench.probe(kFew);
  expect_refused_before_any_work(bench, done, bench.state() + "/probe.journal");
  EXPECT_THAT(done.err, HasSubstr("--fresh"));
  EXPECT_EQ(test::get(bench.state() + "/probe.journal"), "my notes\n");
  auto fresh = kFew;
  fresh.push_back("--fresh");
  EXPECT_EQ(bench.probe(fresh).exit_code, 1);
}

TEST(ProbeCommand, WritesItsReportWhereThereIsNoDevice) {
  test::Bench bench;
  const auto done =
      bench.run({"probe", "--library", "/nonexistent/libOpenCL.so", "--out", bench.report_path()});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  const Report report = bench.report();
  EXPECT_TRUE(report.devices.empty());
  EXPECT_TRUE(report.complete);
  ASSERT_EQ(report.candidates.size(), 1u);
  EXPECT_EQ(report.candidates[0].outcome, CandidateOutcome::kAbsent);
  EXPECT_NE(report.host.kernel, "");
}

TEST(ProbeCommand, KeepsItsReportInTheStateFolderWhereNoOtherIsNamed) {
  test::Bench bench;
  const auto done = bench.run({"probe", "--library", "/nonexistent/libOpenCL.so"});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.out, HasSubstr(bench.state() + "/report.json"));
  EXPECT_TRUE(std::filesystem::exists(bench.state() + "/report.json"));
}

TEST(ProbeCommand, SaysWhichDevicesThereAreWhereNoneMatches) {
  test::Bench bench;
  const auto done = bench.probe({"--device", "GeForce"});
  EXPECT_EQ(done.exit_code, 3) << "no such device";
  EXPECT_THAT(done.err, HasSubstr("'GeForce'"));
  EXPECT_THAT(done.err, HasSubstr("0: Mali-G78"));
  EXPECT_FALSE(std::filesystem::exists(bench.report_path())) << "there is nothing to report";
}

// The kernels of one operation, as clvet_kernel_folder takes them.
void put_few_kernels(const std::string& folder) {
  std::filesystem::create_directories(folder + "/ops");
  for (const char* part : {"/common", "/checks", "/reference", "/ops/softmax"}) {
    std::filesystem::copy(std::string(CLVET_KERNELS) + part, folder + part,
                          std::filesystem::copy_options::recursive);
  }
}

// A report of one device with all of its verdicts, and nothing else. How many kernels there are
// makes no difference here: few are tried.
class BetterReport : public testing::Test {
 protected:
  void SetUp() override {
    put_few_kernels(bench_ / "kernels");
    bench_.use(CLVET_KERNEL_FOLDER);
    bench_.environment()["CLVET_TEST_KERNELS"] = bench_ / "kernels";
    ASSERT_EQ(bench_.probe().exit_code, 1);
    ASSERT_TRUE(bench_.report().complete);
    text_ = test::get(bench_.report_path());
    std::filesystem::remove_all(bench_.state());
  }
  test::Bench bench_;
  std::string text_;
};

TEST_F(BetterReport, IsNotReplacedWhereNoDeviceMatches) {
  EXPECT_EQ(bench_.probe({"--device", "nosuch"}).exit_code, 3);
  EXPECT_TRUE(test::get(bench_.report_path()) == text_);
}

TEST_F(BetterReport, IsNotReplacedByOneWithoutDevices) {
  const auto done = bench_.run(
      {"probe", "--library", "/nonexistent/libOpenCL.so", "--out", bench_.report_path()});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_TRUE(test::get(bench_.report_path()) == text_);
  EXPECT_THAT(done.err, HasSubstr(bench_.report_path() + " is kept"));
  EXPECT_THAT(done.out, HasSubstr("report unchanged"));
}

TEST_F(BetterReport, FillsWhatAShortProbeDidNotReach) {
  bench_.environment()["FAKE_CL_SCENARIO"] =
      R"({"rules":[{"match":{"call":"clBuildProgram"},"do":{"action":"delay","ms":300}}]})";
  const Report before = bench_.report();
  const auto done = bench_.probe({"--budget", "1.5"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_THAT(done.err, HasSubstr("kept what it knew"));
  const Report after = bench_.report();
  EXPECT_FALSE(after.run.counts.contains("missing"));
  EXPECT_EQ(after.verdicts.size(), before.verdicts.size());
  EXPECT_NE(after.created, "");
}

TEST(ProbeCommand, RefusesACaseThatThereIsNotBeforeAnyWork) {
  test::Bench bench("none", kNoticed);
  const auto done = bench.probe({"--case", "gemv_splt"});
  expect_refused_before_any_work(bench, done, "gemv_split");
  EXPECT_FALSE(std::filesystem::exists(bench.report_path()));
}

TEST(ProbeCommand, RefusesACaseThatThisTierDoesNotTry) {
  test::Bench bench;
  const auto done = bench.probe({"--case", "gemv_int32_image"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--tier full"));
}

TEST(ProbeCommand, TriesOnlyTheCasesAskedForAndSaysSo) {
  test::Bench bench;
  bench.probe({"--case", "gemv_split/low/*/odd", "--case", "softmax_group/high"});
  const Report report = bench.report();
  size_t shapes = 0;
  const Catalog catalog = *Catalog::embedded();
  for (const Manifest* manifest : catalog.for_op("softmax")) {
    if (manifest->id == "softmax_group") shapes = manifest->tests.size();
  }
  EXPECT_EQ(report.verdicts.size(), 12u + 2 * shapes) << "in buffers and in images";
  EXPECT_FALSE(report.complete) << "not the whole tier";
  EXPECT_EQ(report.run.only_cases.size(), 2u);
}

TEST(ProbeCommand, WantsAFileOfItsOwnForAPartOfTheCases) {
  test::Bench bench;
  const auto done = bench.run({"probe", "--library", FAKE_CL, "--case", "gemv"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr("--out"));
}

TEST(ProbeCommand, PrintsNothingWithQuiet) {
  test::Bench bench;
  auto arguments = kFew;
  arguments.push_back("--quiet");
  const auto done = bench.probe(arguments);
  EXPECT_EQ(done.out, "");
  EXPECT_EQ(done.err, "");
  EXPECT_EQ(bench.report().devices.size(), 1u);
}

TEST(ProbeCommand, SummarisesEachDeviceAndSaysWhereTheReportIs) {
  test::Bench bench;
  const auto done = bench.probe(kFew);
  EXPECT_THAT(done.out, HasSubstr("Mali-G78"));
  EXPECT_THAT(done.out, HasSubstr("wrong in read"));
  EXPECT_THAT(done.out, HasSubstr("report written: " + bench.report_path()));
  EXPECT_THAT(done.out, Not(HasSubstr("\x1B"))) << "no colours in a file";
}

TEST(ProbeCommand, RefusesWhatItDoesNotKnow) {
  test::Bench bench;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"probe", "--tier", "half"},
        {"probe", "--budget", "-3"},
        {"probe", "--jobs", "0"},
        {"probe", "--no-such-option"},
        {"prob"},
        {}}) {
    const auto done = bench.run(arguments);
    EXPECT_EQ(done.exit_code, 2);
    EXPECT_EQ(done.out, "");
    EXPECT_NE(done.err, "");
  }
  EXPECT_THAT(bench.run({"probe", "--help"}).out, HasSubstr("Examples:"));
  EXPECT_EQ(bench.run({"--version"}).exit_code, 0);
}

TEST(Budget, EndsTheProbeInTimeWithWhatIsKnown) {
  test::Bench bench(
      "none",
      R"({"rules":[{"match":{"call":"clBuildProgram"},"do":{"action":"delay","ms":100}}]})");
  const auto done = bench.probe({"--budget", "5"});
  EXPECT_EQ(done.exit_code, 1) << done.err;
  EXPECT_LT(done.seconds, 12) << "all cases take half a minute";
  const Report report = bench.report();
  EXPECT_FALSE(report.complete);
  int missing = 0, tried = 0;
  for (const VerdictReport& row : report.verdicts)
    ++(row.verdict == Verdict::kMissing ? missing : tried);
  EXPECT_GT(missing, 0);
  EXPECT_GT(tried, 0);
  EXPECT_EQ(report.run.counts.at("missing"), missing);
  EXPECT_THAT(done.out, HasSubstr("missing"));
}

TEST(Budget, LeavesItsVerdictsToTheNextProbe) {
  test::Bench bench(
      "none",
      R"({"rules":[{"match":{"call":"clBuildProgram"},"do":{"action":"delay","ms":100}}]})");
  const std::vector<std::string> cases = {"--case", "gemv_split"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), cases.begin(), cases.end());
    bench.probe(more);
    return bench.report();
  };
  Report first = with({"--budget", "1"});
  for (int seconds = 2; first.run.attempts < 2 && seconds < 20; seconds *= 2)  // a busy machine
    first = with({"--budget", std::to_string(seconds)});
  ASSERT_GE(first.run.attempts, 2);
  ASSERT_TRUE(first.run.counts.contains("missing"));
  const Report second = with({});
  EXPECT_FALSE(second.run.counts.contains("missing"));
  const Report whole = with({});
  EXPECT_EQ(test::words_of(second), test::words_of(whole));
  EXPECT_LT(second.run.attempts, whole.run.attempts) << "and the journal is gone when all is done";
}

TEST(Budget, SpentInDiscoveryIsNoFaultOfTheLibrary) {
  test::Bench bench("none", test::scenario("load-hang.json"));
  const auto done = bench.probe({"--budget", "0.3"});
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_LT(done.seconds, 3);
  const Report report = bench.report();
  EXPECT_FALSE(report.complete);
  ASSERT_EQ(report.candidates.size(), 1u);
  EXPECT_EQ(report.candidates[0].outcome, CandidateOutcome::kError);
  EXPECT_THAT(report.candidates[0].reason, HasSubstr("stopped"));
}

class IfChanged : public BetterReport {
 protected:
  std::string text() const { return test::get(bench_.report_path()); }
  std::string output(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--if-changed"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto done = bench_.probe(arguments);
    EXPECT_EQ(done.exit_code, 1) << done.err;
    return done.out;
  }
};

TEST_F(IfChanged, DoesNothingWhileTheReportHolds) {
  EXPECT_THAT(output(), HasSubstr("report unchanged"));
  EXPECT_TRUE(text() == text_);
}

TEST_F(IfChanged, ProbesAgainWhereADriverVariableChanged) {
  bench_.environment()["RUSTICL_FEATURES"] = "fp16";
  EXPECT_THAT(output(), HasSubstr("report written"));
}

TEST_F(IfChanged, ProbesAgainWhereOtherLibrariesAreAskedFor) {
  EXPECT_THAT(output({"--library", "/nonexistent/libother.so"}), HasSubstr("report written"));
}

// A library that is none of the files that the probe saw is not loaded for that report.
TEST_F(IfChanged, ProbesAgainWhereTheReportsLibraryIsNoneOfItsObjects) {
  Report report = bench_.report();
  report.devices.at(0).library = FAKE_CL_PARTIAL;
  test::put(bench_.report_path(), report_to_json(report));
  EXPECT_THAT(output(), HasSubstr("report written"));
}

TEST_F(IfChanged, RefusesADamagedReportAndLeavesItAlone) {
  test::put(bench_.report_path(), text_.substr(0, text_.size() / 2));
  const auto done = bench_.probe({"--if-changed"});
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.err, HasSubstr(bench_.report_path()));
  EXPECT_TRUE(text() == text_.substr(0, text_.size() / 2));
}

TEST(TwoProbes, DoNotShareAStateFolder) {
  test::Bench bench("none",
                    R"({"rules":[{"match":{"call":"load"},"do":{"action":"delay","ms":1500}}]})");
  test::Process first(bench.command(kFew), bench.environment());
  while (bench.log().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  const auto second = bench.probe(kFew);
  EXPECT_EQ(second.exit_code, 5);
  EXPECT_THAT(second.err, HasSubstr("another clvet probe (process " + std::to_string(first.pid())));
  EXPECT_EQ(first.wait().exit_code, 1);
}

TEST(SyncedRecords, AreAboutOneACase) {
  test::Bench bench;
  bench.probe({"--case", "gemv_split"});
  const Report report = bench.report();
  std::set<std::string> programs;
  for (const VerdictReport& row : report.verdicts) programs.insert(row.variant_key);
  constexpr int kOfDevice = 2;  // what it is examined by, and its peaks
  EXPECT_LE(report.run.synced_records,
            report.run.cases + static_cast<int>(programs.size()) + kOfDevice)
      << "one a case, and one where a program is begun beside others";
  EXPECT_GE(report.run.synced_records, report.run.cases);
}

TEST(WorkerCommand, EndsAtOnceWithoutItsParent) {
  test::Bench bench;
  EXPECT_EQ(bench.run({"worker", "--parent=1"}).exit_code, 4);
}

}  // namespace
}  // namespace clvet
