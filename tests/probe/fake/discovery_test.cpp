// Discovery and the facts of a device, over the hostile driver's own fast device.
#include <gmock/gmock.h>
#include <signal.h>

#include <filesystem>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "base/event.h"
#include "kernels/combination.h"
#include "probe/probe.h"
#include "probe/report/report.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

constexpr const char* kFewCases = "gemv_split/high/normal/buffer/buffer/float";

struct Row {
  std::string name, scenario;
  CandidateOutcome outcome;
  std::string reason;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.scenario; }

class Candidate : public testing::TestWithParam<Row> {};

TEST_P(Candidate, EndsAsItsDriverDoesAndTheProbeSaysSo) {
  test::Bench bench("none", test::scenario(GetParam().scenario));
  const auto done = bench.probe({"--case", kFewCases});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  const Report report = bench.report();
  EXPECT_TRUE(report.devices.empty());
  ASSERT_EQ(report.candidates.size(), 1u);
  EXPECT_STREQ(to_string(report.candidates[0].outcome), to_string(GetParam().outcome));
  EXPECT_THAT(report.candidates[0].reason, HasSubstr(GetParam().reason));
  EXPECT_THAT(done.out, HasSubstr(to_string(GetParam().outcome)));
}

INSTANTIATE_TEST_SUITE_P(
    Discovery, Candidate,
    testing::Values(
        Row{"CrashOnLoad", "load-crash.json", CandidateOutcome::kCrash, "signal 11 in dlopen"},
        Row{"ExitOnLoad", "load-exit0.json", CandidateOutcome::kExited, "status 0 in dlopen"},
        Row{"CrashOnEnumeration", "enumerate-crash.json", CandidateOutcome::kCrash, "signal 11"},
        Row{"CrashOnDevices", "devices-crash.json", CandidateOutcome::kCrash, "LLVM ERROR"},
        Row{"NoPlatform", "enumerate-no-platform.json", CandidateOutcome::kNoPlatform,
            "no platform"},
        Row{"NoDevice", "devices-none.json", CandidateOutcome::kNoDevice, "no device"}),
    [](const auto& info) { return info.param.name; });

TEST(Discovery, TellsALibraryThatIsNotThereFromOneThatIsNoLibrary) {
  test::Bench bench;
  test::put(bench / "text.so", "not a library");
  const auto done = bench.run({"probe", "--library", "/nonexistent/libmali.so", bench / "text.so",
                               FAKE_CL_PARTIAL, "--out", bench.report_path()});
  EXPECT_EQ(done.exit_code, 3) << done.err;
  const auto candidates = bench.report().candidates;
  ASSERT_EQ(candidates.size(), 3u);
  EXPECT_EQ(candidates[0].outcome, CandidateOutcome::kAbsent);
  EXPECT_EQ(candidates[0].origin, Origin::kOption);
  EXPECT_EQ(candidates[1].outcome, CandidateOutcome::kError);
  EXPECT_EQ(candidates[2].outcome, CandidateOutcome::kMissingSymbols);
  EXPECT_THAT(candidates[2].reason, HasSubstr("clCreateKernel"));
}

TEST(Discovery, ListsADeviceOnceAndTriesItThroughTheLoader) {
  test::Bench bench("none", test::scenario("mali-t860-half-image-wrong.json"));
  std::filesystem::create_directory(bench / "icd");
  test::put(bench / "icd/fake.icd", std::string(FAKE_CL) + "\n");
  test::put(bench / "icd/broken.icd", "/nonexistent/libbroken.so\r\n");
  bench.environment()["OCL_ICD_VENDORS"] = bench / "icd";
  const auto done =
      bench.run({"probe", "--device", "T860", "--case", kFewCases, "--out", bench.report_path()});
  const Report report = bench.report();
  ASSERT_EQ(report.devices.size(), 1u) << done.err;
  const DeviceReport& device = report.devices[0];
  EXPECT_EQ(device.name, "Mali-T860");
  EXPECT_EQ(device.library, "libOpenCL.so.1");
  EXPECT_THAT(device.also_via, testing::Contains(FAKE_CL));
  EXPECT_EQ(report.loader.kind, LoaderKind::kOclIcd);
  ASSERT_EQ(report.icd_files.size(), 2u);
  EXPECT_THAT(report.icd_files[0].faults, testing::SizeIs(2));
  EXPECT_THAT(report.icd_files[1].faults, testing::IsEmpty());
}

TEST(Discovery, AsksForAVendorsPropertyWhereItsExtensionIsAdvertised) {
  constexpr const char* kName = "CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV";
  test::Bench nvidia("none", R"({"device": {"extensions_add": ["cl_nv_device_attribute_query"],
      "info": {"CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV": 9}}, "rules": []})");
  nvidia.probe({"--case", kFewCases});
  const auto properties = nvidia.report().devices.at(0).properties;
  ASSERT_TRUE(properties.contains(kName));
  EXPECT_EQ(properties.at(kName).value, "9");
  test::Bench other("none");
  other.probe({"--case", kFewCases});
  EXPECT_FALSE(other.report().devices.at(0).properties.contains(kName));
}

TEST(Discovery, TriesEachOfTwoEqualDevicesByItself) {
  test::Bench bench("none", R"({"device": {"broken_twin": 1}, "rules": []})");
  const auto done =
      bench.run({"probe", "--library", FAKE_CL, "--case", kFewCases, "--out", bench.report_path()});
  const Report report = bench.report();
  ASSERT_EQ(report.devices.size(), 2u) << done.err;
  EXPECT_EQ(report.devices[0].ordinal, 0);
  EXPECT_EQ(report.devices[1].ordinal, 1);
  EXPECT_NE(report.devices[0].environment_key, report.devices[1].environment_key);
  EXPECT_TRUE(shows_true(report.devices[0], "canary")) << done.err;
  EXPECT_FALSE(shows_true(report.devices[1], "canary"));
}

TEST(Discovery, ImportsOfHostMemoryAreTriedWhereTheyAreAdvertised) {
  const auto found_with = [](const std::string& rules) {
    test::Bench bench("none", R"({"rules": [)" + rules + "]}");
    bench.run({"probe", "--library", FAKE_CL, "--case", kFewCases, "--out", bench.report_path()});
    return bench.report().devices.at(0).capabilities.at("arm_import");
  };
  EXPECT_EQ(found_with("").verdict, CapabilityVerdict::kTrue);
  const CapabilityReport missing =
      found_with(R"({"match": {"call": "clGetExtensionFunctionAddressForPlatform"},
                     "do": {"action": "null_success"}})");
  EXPECT_EQ(missing.verdict, CapabilityVerdict::kWrong);
  EXPECT_THAT(missing.evidence, HasSubstr("without its function clImportMemoryARM"));
}

struct Entry {
  const char *name, *library;
};
void PrintTo(const Entry& row, std::ostream* out) { *out << row.name; }

class LibraryWithFewExports : public testing::TestWithParam<Entry> {};

TEST_P(LibraryWithFewExports, GivesItsDeviceAndRunsATrial) {
  test::Bench bench;
  const auto done = bench.run({"probe", "--library", GetParam().library, "--case", kFewCases,
                               "--out", bench.report_path()});
  EXPECT_EQ(done.exit_code, 1) << "a device, and no kernel of it right: " << done.err;
  const Report report = bench.report();
  ASSERT_EQ(report.candidates.size(), 1u);
  EXPECT_STREQ(to_string(report.candidates[0].outcome), "usable") << report.candidates[0].reason;
  EXPECT_GT(report.candidates[0].symbols, 30);
  ASSERT_EQ(report.devices.size(), 1u);
  EXPECT_THAT(report.devices[0].name, HasSubstr("Mali-G78"));
  EXPECT_EQ(report.devices[0].capabilities.at("canary").verdict, CapabilityVerdict::kTrue);
}

INSTANTIATE_TEST_SUITE_P(Discovery, LibraryWithFewExports,
                         testing::Values(Entry{"GooglesPair", FAKE_CL_GOOGLE},
                                         Entry{"LoadersEntryAlone", FAKE_CL_ICD}),
                         [](const auto& info) { return info.param.name; });

TEST(Discovery, WithALibraryTakesNoOther) {
  test::Bench bench;
  bench.probe({"--case", kFewCases});
  const Report report = bench.report();
  ASSERT_EQ(report.candidates.size(), 1u);
  EXPECT_EQ(report.candidates[0].name, FAKE_CL);
  EXPECT_EQ(report.candidates[0].path, FAKE_CL);
  EXPECT_GT(report.candidates[0].symbols, 30);
}

TEST(Discovery, EndsACandidateThatHangsByTheClock) {
  test::Bench bench("none", test::scenario("load-hang.json"));
  const test::ScopedVariable target("FAKE_CL_TARGET", "none");
  const test::ScopedVariable hostile("FAKE_CL_SCENARIO", test::scenario("load-hang.json"));
  ProbeOptions options;
  options.libraries = {FAKE_CL};
  options.state_dir = bench.state();
  options.program = CLVET_PROGRAM;
  options.limits.other = {0.5, 2};
  options.sink = [](const Event&) {};
  const auto report = probe(options);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->candidates.at(0).outcome, CandidateOutcome::kHang);
  EXPECT_TRUE(report->complete);
}

TEST(DeviceFacts, ACanaryThatIsWrongIsAFactOfItsOwn) {
  test::Bench bench("none", test::scenario("canary-wrong.json"));
  EXPECT_EQ(bench.probe({"--case", kFewCases}).exit_code, 1);
  const Report report = bench.report();
  EXPECT_EQ(report.devices.at(0).capabilities.at("canary").verdict, CapabilityVerdict::kWrong);
  EXPECT_FALSE(report.verdicts.empty());
  for (const VerdictReport& row : report.verdicts)
    EXPECT_NE(row.verdict, Verdict::kMissing) << "trials go on";
}

TEST(DeviceFacts, ADeviceThatCannotBeOpenedGivesEveryCaseTheReason) {
  test::Bench bench("none", test::scenario("context-not-available.json"));
  EXPECT_EQ(bench.probe({"--case", kFewCases}).exit_code, 1);
  const Report report = bench.report();
  ASSERT_FALSE(report.verdicts.empty());
  for (const VerdictReport& row : report.verdicts) {
    EXPECT_EQ(row.verdict, Verdict::kLaunchError);
    EXPECT_EQ(row.stage, Stage::kContext);
    EXPECT_EQ(row.evidence.cl_error, -2);
    EXPECT_EQ(row.evidence.note,
              "the device could not be opened: clCreateContext: CL_DEVICE_NOT_AVAILABLE");
  }
}

TEST(DeviceFacts, ADeviceThatAnswersNoMoreIsLostAndIsSentNothingElse) {
  test::Bench bench("none", test::scenario("device-lost-after-crash.json"));
  const auto done =
      bench.probe({"--case", "gemv_split/low/*/odd", "--case", "gemv_split/high/*/odd"});
  EXPECT_EQ(done.exit_code, 1);
  int crashes = 0, lost = 0;
  for (const VerdictReport& row : bench.report().verdicts) {
    crashes += row.verdict == Verdict::kCrash;
    lost += row.verdict == Verdict::kDeviceLost;
    if (row.verdict == Verdict::kDeviceLost) {
      EXPECT_THAT(row.evidence.note, HasSubstr("since gemv_split/low"));
    }
  }
  EXPECT_EQ(crashes, 1) << "the case that did it keeps its own verdict";
  EXPECT_EQ(lost, 23);
}

// The first program builds slowly; the second, begun beside it, ends the device meanwhile.
TEST(DeviceFacts, ADeviceThatIsLostInCompanyIsLostByTheCaseThatCrashed) {
  test::Bench bench("none", R"({"rules":[
    {"match":{"call":"clBuildProgram","constructs_all":["half_arith","int4_weights"]},
     "do":{"action":"segfault","once_file":"$FAKE_CL_STATE/lost"}},
    {"match":{"call":"clBuildProgram","constructs_all":["half_arith"]},"do":{"action":"delay","ms":700}},
    {"match":{"call":["clEnqueueNDRangeKernel","clFinish"],"file_exists":"$FAKE_CL_STATE/lost"},
     "do":{"action":"error","code":"CL_OUT_OF_RESOURCES"}}]})");
  bench.probe({"--case", "gemv_split/low/*/odd", "--case", "gemv_split/high/*/odd"});
  std::map<Verdict, int> counts;
  for (const VerdictReport& row : bench.report().verdicts) {
    ++counts[row.verdict];
    if (row.verdict != Verdict::kDeviceLost) continue;
    EXPECT_THAT(row.evidence.note, HasSubstr("since gemv_split/low/low/buffer/buffer/int4/odd"));
  }
  EXPECT_THAT(counts, UnorderedElementsAre(Pair(Verdict::kWrong, 8), Pair(Verdict::kCrash, 1),
                                           Pair(Verdict::kDeviceLost, 15)))
      << "precision high comes first, and has its verdicts";
}

// After an error the context of that process may be spoilt; the device need not be.
TEST(DeviceFacts, AnErrorThatSpoilsOnlyItsProcessCostsNoOtherCase) {
  test::Bench bench("none", R"({"rules":[
    {"match":{"call":"clEnqueueNDRangeKernel","constructs_all":["half_arith"]},
     "do":{"action":"error","code":"CL_OUT_OF_RESOURCES","once_file":"$FAKE_CL_STATE/spoilt","once_limit":1000}},
    {"match":{"call":"clEnqueueNDRangeKernel","kernel":"^clvet_canary$","count":{"from":2,"to":1000}},
     "do":{"action":"error","code":"CL_OUT_OF_RESOURCES"}}]})");
  bench.probe({"--case", "gemv_split/low/*/odd", "--case", "gemv_split/high/*/odd"});
  for (const VerdictReport& row : bench.report().verdicts) {
    const bool low = row.combination.precision == Precision::kLow;
    EXPECT_EQ(row.verdict, low ? Verdict::kLaunchError : Verdict::kWrong)
        << row.id << " " << to_string(row.verdict) << " " << row.evidence.note;
  }
}

TEST(DeviceFacts, ABannerOnLoadDisturbsNothing) {
  test::Bench bench("none", test::scenario("load-banner.json"));
  const auto done = bench.probe({"--case", kFewCases, "--json", "-"});
  EXPECT_TRUE(done.out == test::get(bench.report_path()));
  EXPECT_EQ(bench.report().devices.size(), 1u);
}

TEST(DeviceFacts, ADriverThatClosesOurDescriptorsHasCrashed) {
  test::Bench bench("none",
                    R"({"rules":[{"match":{"call":"clBuildProgram","constructs_all":["half_arith"]},
                                         "do":{"action":"close_fds"}}]})");
  bench.probe({"--case", "gemv_split/low/*/odd", "--case", "gemv_split/high/*/odd"});
  for (const VerdictReport& row : bench.report().verdicts) {
    const bool low = row.combination.precision == Precision::kLow;
    const bool given_up = low && row.verdict == Verdict::kNotTried;  // after some that ended alike
    EXPECT_TRUE(given_up || row.verdict == (low ? Verdict::kCrash : Verdict::kWrong))
        << row.id << " " << to_string(row.verdict);
  }
}

// The processes, of whatever parents, that live and were begun with the bench's environment.
std::vector<std::string> processes_of(const test::Bench& bench) {
  std::vector<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string folder = entry.path();
    if (test::get(folder + "/environ").find("CLVET_STATE_DIR=" + bench.state() + '\0') !=
        std::string::npos)
      found.push_back(folder);
  }
  return found;
}

TEST(DeviceFacts, AnOrphanOfTheDriverDelaysNothingAndIsSwept) {
  test::Bench bench("none", test::scenario("orphan-child.json"));
  const auto done = bench.probe({"--case", kFewCases});
  EXPECT_LT(done.seconds, 10) << "the orphan would live 30 s";
  EXPECT_EQ(bench.report().devices.size(), 1u);
  EXPECT_THAT(processes_of(bench), testing::IsEmpty());
}

// A script may begin a program and then become clvet.
TEST(DeviceFacts, AChildOfTheShellThatBecameTheProbeIsNotSwept) {
  test::Bench bench("none", test::scenario("orphan-child.json"));
  std::vector<std::string> words{
      "/bin/bash", "-c",
      "sleep 60 >&- 2>&- & echo $! >'" + (bench / "pid") + "'; exec \"$0\" \"$@\""};
  for (const std::string& word : bench.command({"--case", kFewCases})) words.push_back(word);
  test::Process(words, bench.environment()).wait();
  EXPECT_EQ(bench.report().devices.size(), 1u);
  const auto pid = static_cast<pid_t>(std::stol(test::get(bench / "pid")));
  EXPECT_FALSE(test::process_gone(pid, 0));
  ::kill(pid, SIGKILL);
}

TEST(DeviceFacts, AHugeBuildLogIsNotFetched) {
  test::Bench bench("none", test::scenario("build-error-log-huge.json"));
  bench.probe({"--case", kFewCases});
  for (const VerdictReport& row : bench.report().verdicts) {
    EXPECT_EQ(row.verdict, Verdict::kBuildError);
    EXPECT_THAT(row.evidence.note, AllOf(HasSubstr("1073741824"), HasSubstr("not fetched")));
  }
  EXPECT_LT(test::get(bench.report_path()).size(), 1u << 20);
}

TEST(DeviceFacts, AKernelThatIsNotRunLeavesTheSentinelAndIsWrong) {
  test::Bench bench;
  EXPECT_EQ(bench.probe({"--case", kFewCases}).exit_code, 1) << "devices, none right";
  const Report report = bench.report();
  EXPECT_EQ(report.devices.at(0).capabilities.at("canary").verdict, CapabilityVerdict::kTrue);
  for (const VerdictReport& row : report.verdicts) {
    EXPECT_EQ(row.verdict, Verdict::kWrong);
    EXPECT_EQ(row.evidence.error.value().first_bad, 0);
  }
}

}  // namespace
}  // namespace clvet
