// Cases are timed at two moments of a probe: what a driver, or the machine, is like at one of them.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "probe/report/report.h"
#include "tests/probe/fake/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using Words = std::vector<std::string>;

constexpr double kSlowMs = 20;
const std::string kCase = "gemv_fused_pair16/high/low/buffer/buffer/int4/down",
                  kGpuCase = "gemv_fused_wide256/high/low/buffer/buffer/int4/square";
// A kernel whose launches all take kSlowMs is launched as rarely as can be: two whose outputs are
// read, three that are timed, one whose outputs are read again. The second time has no need of the
// first two.
constexpr int kFirst = 6, kBoth = kFirst + 4;

std::string rule(const std::string& call, const std::string& count, const std::string& action) {
  return fmt::format(R"({{"match": {{"call": "{}", "kernel": "^gemv", "count": {}}},
                         "do": {{{}}}}})",
                     call, count, action);
}

std::string from(int count) { return fmt::format(R"({{"from": {}}})", count); }

// Until launch number `last` of the process.
std::string slow_launches(int last = 1000) {
  return rule("clEnqueueNDRangeKernel", fmt::format("{}", last),
              fmt::format(R"("action": "delay", "ms": {})", kSlowMs));
}

// On a processor, and on what calls itself a GPU: there programs are built ahead, and the empty
// kernel is timed in turn.
struct Board {
  std::string name, device;
};

class SecondTimesOverPocl : public testing::TestWithParam<Board> {
 protected:
  void SetUp() override {
    if (!test::pocl_library()) GTEST_SKIP() << "PoCL is not installed here";
  }
  std::string scenario(const Words& rules) const {
    return fmt::format(R"({{{} "rules": [{}]}})", GetParam().device, fmt::join(rules, ","));
  }
  Words options(const Words& more = {}) const {
    Words options{"--case", GetParam().device.empty() ? kCase : kGpuCase};
    options.insert(options.end(), more.begin(), more.end());
    return options;
  }
  VerdictReport probe(const Words& rules, const Words& more = {}) {
    test::Bench bench(*test::pocl_library(), scenario(rules));
    const test::Finished done = bench.probe(options(more));
    log_ = bench.log();
    return verdict_in(bench.report(), done);
  }
  static VerdictReport verdict_in(const Report& report, const test::Finished& done) {
    for (const VerdictReport& row : report.verdicts) {
      if (row.case_name == kCase || row.case_name == kGpuCase) return row;
    }
    ADD_FAILURE() << done.err << done.out;
    return {};
  }
  std::string log_;
};

TEST_P(SecondTimesOverPocl, CountWhereTheDeviceWasSlowBefore) {
  const VerdictReport found = probe({slow_launches(kFirst)});
  ASSERT_EQ(found.verdict, Verdict::kPass) << found.evidence.note;
  EXPECT_LT(found.median_ms.value(), kSlowMs);
  EXPECT_LT(found.piped_ms.value(), kSlowMs);
  EXPECT_EQ(found.attempts, 1);
}

TEST_P(SecondTimesOverPocl, LaunchASlowKernelAsRarelyAsCanBe) {
  const VerdictReport found = probe({slow_launches()});
  EXPECT_EQ(found.verdict, Verdict::kPass);
  EXPECT_GE(found.median_ms.value(), kSlowMs);
  EXPECT_EQ(test::count(log_, "\n"), kBoth);
}

TEST_P(SecondTimesOverPocl, ThatGiveOtherNumbersMakeTheCaseNondeterministic) {
  const VerdictReport found =
      probe({slow_launches(), rule("clEnqueueNDRangeKernel", from(kBoth), R"("action": "zeros")")});
  EXPECT_EQ(found.verdict, Verdict::kNondeterministic);
  EXPECT_THAT(found.evidence.note, HasSubstr("pass at first, then wrong"));
  EXPECT_EQ(found.attempts, 2);
}

TEST_P(SecondTimesOverPocl, ThatEndTheProcessMakeTheCaseNondeterministic) {
  const VerdictReport found = probe(
      {slow_launches(), rule("clEnqueueNDRangeKernel", from(kBoth), R"("action": "segfault")")});
  EXPECT_EQ(found.verdict, Verdict::kNondeterministic) << found.evidence.note;
}

// Where another process holds the device, which passed beside it the first time.
TEST_P(SecondTimesOverPocl, AreNotExcusedByCompany) {
  const int ahead = GetParam().device.empty() ? 2 : 0;  // launches while the other lane is at work
  const VerdictReport found =
      probe({slow_launches(),
             rule("clEnqueueNDRangeKernel", from(kBoth + ahead), R"("action": "zeros")")},
            {"--case", "eltwise_unary*/high/*affine"});
  EXPECT_EQ(found.verdict, Verdict::kNondeterministic) << found.evidence.note;
  EXPECT_EQ(found.evidence.error.has_value(), true);
}

TEST_P(SecondTimesOverPocl, ThatTheBudgetCutShortAreForTheNextProbe) {
  test::Bench bench(*test::pocl_library(),
                    scenario({slow_launches(),
                              rule("clEnqueueNDRangeKernel", from(kBoth), R"("action": "hang")")}));
  const test::Finished done = bench.probe(options({"--budget", "8"}));
  EXPECT_EQ(verdict_in(bench.report(), done).verdict, Verdict::kMissing) << "it may hang";
  bench.environment()["FAKE_CL_SCENARIO"] = scenario({});
  const test::Finished next = bench.probe(options());
  EXPECT_EQ(verdict_in(bench.report(), next).verdict, Verdict::kPass);
}

// It is not timed again, so its program is released by itself.
TEST_P(SecondTimesOverPocl, AreSparedASlowKernelWhoseReleaseIsWatchedAllTheSame) {
  const std::string slow =
      rule("clEnqueueNDRangeKernel", from(1), R"("action": "delay", "ms": 110)");
  EXPECT_EQ(probe({slow}).verdict, Verdict::kPass);
  EXPECT_EQ(test::count(log_, "\n"), kFirst);
  const VerdictReport found =
      probe({slow, rule("clReleaseKernel", from(1), R"("action": "segfault")")});
  EXPECT_EQ(found.verdict, Verdict::kCrash) << found.evidence.note;
  EXPECT_EQ(found.stage, Stage::kRelease);
}

// A program is released after the last time that one of its cases was timed.
TEST_P(SecondTimesOverPocl, AreBeforeTheReleaseWhoseCrashIsFoundAsEver) {
  const VerdictReport found = probe({rule("clReleaseKernel", from(1), R"("action": "segfault")")});
  EXPECT_EQ(found.verdict, Verdict::kCrash) << found.evidence.note;
  EXPECT_EQ(found.stage, Stage::kRelease);
}

INSTANTIATE_TEST_SUITE_P(Devices, SecondTimesOverPocl,
                         testing::Values(Board{"Processor", ""},
                                         Board{"Gpu",
                                               R"("device": {"info": {"CL_DEVICE_TYPE": 4}},)"}),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace clvet
