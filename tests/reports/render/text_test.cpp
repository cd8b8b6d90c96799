#include <gmock/gmock.h>

#include <string>

#include "base/language.h"
#include "probe/report/report.h"
#include "reports/render/text.h"
#include "tests/probe/samples.h"
#include "tests/scoped_language.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(SummaryText, HasTheBestCombinationTheFailuresAndTheirReason) {
  const std::string text = summary_text(test::sample_report(), false);
  EXPECT_THAT(text, AllOf(HasSubstr("Mali-G78 r0p1"), HasSubstr("through libmali.so.1"),
                          HasSubstr("also via"), HasSubstr("best: precision high, memory normal"),
                          HasSubstr("crash in build (signal 6)"),
                          HasSubstr("LLVM ERROR: Cannot select"), HasSubstr("map_read")));
  EXPECT_THAT(text, Not(HasSubstr("\x1B")));
  EXPECT_THAT(summary_text(test::sample_report(), true), HasSubstr("\x1B["));
}

TEST(SummaryText, SaysThatTheProbeIsNotComplete) {
  Report report = test::sample_report();
  report.complete = false;
  EXPECT_THAT(summary_text(report, false), HasSubstr("only the cases asked for"));
  report.run.only_cases.clear();
  EXPECT_THAT(summary_text(report, false), HasSubstr("INCOMPLETE"));
  report.complete = true;
  EXPECT_THAT(summary_text(report, false), Not(HasSubstr("INCOMPLETE")));
}

TEST(SummaryText, WithoutADeviceTellsWhatWasTriedAndLeavesOutWhatIsAbsent) {
  Report report = test::sample_report();
  report.devices.clear();
  report.verdicts.clear();
  report.candidates.push_back(
      {"libabsent.so", Origin::kKnownName, "", CandidateOutcome::kAbsent, "why", 0, "", 0});
  const std::string text = summary_text(report, false);
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("No OpenCL device"), HasSubstr("libx.so (option): missing-dependency - why"),
            HasSubstr("mali.icd: has CR LF line ends"), Not(HasSubstr("libabsent.so"))));
}

TEST(SummaryText, TellsTheSameFailureOnce) {
  Report report = test::sample_report();
  for (int i = 0; i < 50; ++i) report.verdicts.push_back(test::sample_verdict());
  const std::string text = summary_text(report, false);
  EXPECT_THAT(text, HasSubstr("51 cases of 1 variants"));
  EXPECT_LT(text.size(), 3000u);
}

TEST(SummaryText, IsInTheLanguageOfTheProcess) {
  Report report = test::sample_report();
  report.advice = {{"a", "cause", {}, {"fix"}, "en"}, {"a", "原因", {}, {"办法"}, "zh"}};
  const test::ScopedLanguage chinese(Language::kChinese);
  const std::string text = summary_text(report, false);
  EXPECT_THAT(text, AllOf(HasSubstr("最佳:精度 high,内存 normal"),
                          HasSubstr("编译阶段崩溃 (信号 6)"), HasSubstr("建议 原因: 办法"),
                          Not(HasSubstr("fix")), HasSubstr("1 崩溃, 1 通过")));
}

TEST(SummaryText, OfAnEmptyReportDoesNotFail) { EXPECT_NE(summary_text(Report{}, false), ""); }

}  // namespace
}  // namespace clvet
