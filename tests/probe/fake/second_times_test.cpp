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
  VerdictReport probe(const Words& rules) {
    test::Bench bench(*test::pocl_library(), fmt::format(R"({{{} "rules": [{}]}})",
                                                         GetParam().device, fmt::join(rules, ",")));
    const test::Finished done =
        bench.probe({"--case", GetParam().device.empty() ? kCase : kGpuCase});
    const Report report = bench.report();
    log_ = bench.log();
    EXPECT_EQ(report.verdicts.size(), 1U) << done.err << done.out;
    return report.verdicts.empty() ? VerdictReport() : report.verdicts.front();
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
