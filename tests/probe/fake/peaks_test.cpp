// What a driver can do to the measurement of its peaks: what cannot be measured is null, and the
// trials go on as if nothing had been.
#include <gmock/gmock.h>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/event.h"
#include "probe/probe.h"
#include "probe/report/report.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using Words = std::vector<std::string>;

const Words kFew{"--case", "gemv_split/*/odd"};

std::string rule(const std::string& match, const std::string& action) {
  return R"({"rules":[{"match":{)" + match + R"(},"do":{)" + action + "}}]}";
}

// The names of the peaks that a report has.
Words measured(const Report& report) {
  const PeaksReport& peaks = report.devices.at(0).peaks;
  const std::vector<std::pair<std::string, std::optional<double>>> rows{
      {"launch_us", peaks.launch_us}, {"piped_launch_us", peaks.piped_launch_us},
      {"read_us", peaks.read_us},     {"read_gbs", peaks.read_gbs},
      {"write_us", peaks.write_us},   {"write_gbs", peaks.write_gbs},
      {"map_us", peaks.map_us},       {"bandwidth_gbs", peaks.bandwidth_gbs}};
  Words names;
  for (const auto& [name, value] : rows) {
    if (!value) continue;
    EXPECT_GT(*value, 0) << name;
    names.push_back(name);
  }
  return names;
}

const Words kTransfers{"read_us", "read_gbs", "write_us", "write_gbs"};

Words joined(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Probes the built-in device under `scenario`, where the verdicts must be those of a probe that
// nothing disturbs.
Words measured_under(const std::string& scenario) {
  static const auto undisturbed = [] {
    test::Bench bench;
    bench.probe(kFew);
    return test::words_of(bench.report());
  }();
  test::Bench bench("none", scenario);
  bench.probe(kFew);
  EXPECT_GE(undisturbed.size(), 10u);
  EXPECT_EQ(test::words_of(bench.report()), undisturbed);
  return measured(bench.report());
}

TEST(Peaks, OfADeviceThatCopiesNothingHaveNoBandwidth) {
  EXPECT_THAT(measured_under(""), testing::UnorderedElementsAreArray(joined(
                                      {"launch_us", "piped_launch_us", "map_us"}, kTransfers)));
}

TEST(Peaks, ThatCrashTheDriverLeaveTheOthersAndTheTrials) {
  const auto found =
      measured_under(rule(R"("call":"clEnqueueNDRangeKernel","kernel":"clvet_peaks_launch")",
                          R"("action":"segfault")"));
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(joined({"map_us"}, kTransfers)));
}

TEST(Peaks, ThatEndTheProcessInTheMiddleKeepNothingOfTheirGroup) {
  const auto found =
      measured_under(rule(R"("call":"clFinish","kernel":"clvet_peaks_launch","count":{"from":3})",
                          R"("action":"exit")"));
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(joined({"map_us"}, kTransfers)));
}

TEST(Peaks, ThatTheDriverRefusesAreNull) {
  const auto found = measured_under(rule(R"("call":"clBuildProgram","kernel":"clvet_peaks_launch")",
                                         R"("action":"build_error")"));
  EXPECT_THAT(found, testing::UnorderedElementsAreArray(joined({"map_us"}, kTransfers)));
}

TEST(Peaks, OfReadsThatGiveOtherBytesAreNull) {
  const auto found = measured_under(
      rule(R"("call":"clEnqueueReadBuffer","kernel":"clvet_peaks_launch")", R"("action":"skip")"));
  EXPECT_THAT(found, testing::IsSupersetOf({"launch_us", "map_us"}));
  EXPECT_THAT(found, testing::Not(testing::Contains("read_gbs")));
  EXPECT_THAT(found, testing::Not(testing::Contains("write_us")));
}

TEST(Peaks, OfMapsAreNullWhereAMappedReadIsNotRight) {
  test::Bench bench("none", test::scenario("map-null-success.json"));
  bench.probe(kFew);
  EXPECT_THAT(measured(bench.report()), testing::Not(testing::Contains("map_us")));
}

TEST(Peaks, AreNotMeasuredWhereTheCanaryIsWrong) {
  test::Bench bench("none", test::scenario("canary-wrong.json"));
  bench.probe(kFew);
  EXPECT_THAT(measured(bench.report()), testing::IsEmpty());
}

TEST(Peaks, OfAClockThatStandsStillAreAllNull) {
  const auto pocl = test::pocl_library();
  test::Bench bench(pocl.value_or("none"));
  bench.environment()["LD_PRELOAD"] = STILL_CLOCK;
  bench.environment()["ASAN_OPTIONS"] += ":verify_asan_link_order=0";
  const auto done = bench.probe({"--case", "gemv*/high/normal/buffer/buffer/float"});
  EXPECT_TRUE(done.exit_code == 0 || done.exit_code == 1) << done.err;
  const Report report = bench.report();
  EXPECT_THAT(measured(report), testing::IsEmpty());
  EXPECT_GE(report.verdicts.size(), 3u);
  for (const VerdictReport& row : report.verdicts) {
    if (pocl) {
      EXPECT_EQ(row.verdict, Verdict::kPass) << row.id;
    }
    EXPECT_EQ(row.median_ms, std::nullopt) << row.id;
    EXPECT_EQ(row.gflops, std::nullopt) << row.id;
  }
}

// The clocks of the program are long, so the library is called with shorter ones.
TEST(Peaks, ThatHangCostOneClockAndNoVerdict) {
  test::Bench bench("none", rule(R"("call":"clEnqueueNDRangeKernel","kernel":"clvet_peaks_launch")",
                                 R"("action":"hang","ignore_sigterm":true)"));
  std::vector<std::unique_ptr<test::ScopedVariable>> variables;
  for (const auto& [name, value] : bench.environment()) {
    variables.push_back(std::make_unique<test::ScopedVariable>(name.c_str(), value));
  }
  ProbeOptions options;
  options.libraries = {FAKE_CL};
  options.cases = {"gemv_split/*/odd"};
  options.state_dir = bench.state();
  options.program = CLVET_PROGRAM;
  options.limits.build = {1.5, 20};
  options.sink = [](const Event&) {};
  const auto report = probe(options);
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_THAT(measured(*report), testing::IsEmpty());
  EXPECT_LT(report->run.wall_s, 15);
  for (const VerdictReport& row : report->verdicts) EXPECT_EQ(row.attempts, 1) << row.id;
}

TEST(PeaksOverPocl, AreAllMeasuredAndCostLittle) {
  const auto pocl = test::pocl_library();
  if (!pocl) GTEST_SKIP() << "PoCL is not installed here";
  test::Bench bench(*pocl);
  EXPECT_EQ(bench.probe({"--case", "gemv*/high/normal/buffer/buffer/float/odd"}).exit_code, 0);
  EXPECT_EQ(measured(bench.report()).size(), 8u);
  const PeaksReport peaks = bench.report().devices.at(0).peaks;
  EXPECT_LT(*peaks.piped_launch_us, 1e5);
  EXPECT_GT(*peaks.bandwidth_gbs, 0.01);
}

}  // namespace
}  // namespace clvet
