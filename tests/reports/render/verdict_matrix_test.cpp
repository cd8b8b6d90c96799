#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/combination.h"
#include "probe/report/report.h"
#include "reports/render/verdict_matrix.h"
#include "reports/render/verdict_words.h"
#include "tests/probe/samples.h"

namespace clvet {
namespace {

constexpr Combination kPlain{Precision::kHigh, std::nullopt, Storage::kImage, std::nullopt};

VerdictReport row(const std::string& kernel, Verdict verdict,
                  const Combination& combination = kPlain) {
  VerdictReport out;
  out.device = "d0";
  out.kernel = kernel;
  out.op = kernel.substr(0, kernel.find('_'));
  out.case_name = kernel + "/" + to_string(verdict);
  out.combination = combination;
  out.verdict = verdict;
  return out;
}

Report report_of(std::vector<VerdictReport> rows) {
  Report report = test::sample_report();
  report.verdicts = std::move(rows);
  return report;
}

TEST(VerdictWords, HaveALetterOfTheirOwnAndAMeaning) {
  std::set<char> letters;
  std::set<Verdict> verdicts;
  for (const VerdictWord& word : verdict_words()) {
    letters.insert(word.letter);
    verdicts.insert(word.verdict);
    EXPECT_STRNE(word.meaning, "");
  }
  EXPECT_EQ(letters.size(), verdict_words().size());
  for (int value = 0; value <= static_cast<int>(Verdict::kToolError); ++value)
    EXPECT_EQ(verdicts.count(static_cast<Verdict>(value)), 1u) << value;
}

TEST(VerdictWords, CallAFailureWhatWasTriedAndIsNotRight) {
  for (const Verdict verdict : {Verdict::kPass, Verdict::kUnsupported, Verdict::kMissing})
    EXPECT_FALSE(is_failure(verdict)) << to_string(verdict);
  for (const Verdict verdict : {Verdict::kWrong, Verdict::kBuildError, Verdict::kCrash,
                                Verdict::kLie, Verdict::kToolError, Verdict::kInterrupted})
    EXPECT_TRUE(is_failure(verdict)) << to_string(verdict);
}

TEST(VerdictMatrix, HasARowAnOperationAndCountsItsCases) {
  const Report report = report_of({row("pool_a", Verdict::kPass), row("pool_b", Verdict::kPass),
                                   row("pool_a", Verdict::kUnsupported)});
  const auto rows = verdict_matrix(report, report.devices[0]);
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].name, "pool");
  EXPECT_FALSE(rows[0].weights);
  const std::map<Verdict, int> expected{{Verdict::kPass, 2}, {Verdict::kUnsupported, 1}};
  EXPECT_EQ(rows[0].cells.at(kPlain), expected);
}

TEST(VerdictMatrix, DividesAnOperationByKernelWhereOneFails) {
  const Report report = report_of({row("pool_a", Verdict::kPass), row("pool_b", Verdict::kCrash),
                                   row("gemm_a", Verdict::kWrong), row("pad_a", Verdict::kPass),
                                   row("pad_b", Verdict::kMissing)});
  std::vector<std::string> names;
  for (const MatrixRow& found : verdict_matrix(report, report.devices[0]))
    names.push_back(found.name);
  EXPECT_THAT(names, testing::ElementsAre("gemm", "pad", "pool_a", "pool_b"));
}

TEST(VerdictMatrix, KeepsDevicesApart) {
  Report report = report_of({row("pool_a", Verdict::kPass), row("pool_a", Verdict::kCrash)});
  report.verdicts[1].device = "d1";
  EXPECT_EQ(verdict_matrix(report, report.devices[0])[0].cells.at(kPlain).size(), 1u);
  EXPECT_TRUE(failures(report, report.devices[0]).empty());
}

TEST(Failures, AreGatheredByKindTheGravestFirst) {
  Report report = report_of({row("pool_a", Verdict::kBuildError), row("pool_a", Verdict::kWrong),
                             row("pool_b", Verdict::kWrong), row("pool_b", Verdict::kHang),
                             row("pool_b", Verdict::kWrong), row("pool_a", Verdict::kPass)});
  report.verdicts[4].stage = Stage::kMap;
  const auto kinds = failures(report, report.devices[0]);
  ASSERT_EQ(kinds.size(), 4u);
  EXPECT_EQ(kinds[0].verdict, Verdict::kHang);
  EXPECT_EQ(kinds[1].verdict, Verdict::kWrong);
  EXPECT_EQ(kinds[1].stage, Stage::kBuild);
  EXPECT_EQ(kinds[1].cases, 2u);
  EXPECT_EQ(kinds[1].groups.size(), 2u);
  EXPECT_EQ(kinds[2].stage, Stage::kMap);
  EXPECT_EQ(kinds[3].verdict, Verdict::kBuildError);
}

TEST(Failures, TellThoseThatNoCombinationCountsFromTheOthers) {
  Report report = report_of({row("pool_a", Verdict::kWrong), row("pool_b", Verdict::kWrong)});
  report.devices[0].combinations[1].combination = kPlain;
  report.devices[0].combinations[1].failed_cases = {"pool_a/wrong"};
  const auto kinds = failures(report, report.devices[0]);
  ASSERT_EQ(kinds.size(), 1u);
  ASSERT_EQ(kinds[0].groups.size(), 2u);
  EXPECT_FALSE(kinds[0].groups[0].trial_only);
  EXPECT_TRUE(kinds[0].groups[1].trial_only);
}

TEST(Untried, CountsCasesByReason) {
  Report report = report_of({row("a", Verdict::kUnsupported), row("b", Verdict::kUnsupported)});
  report.verdicts[1].evidence.note = "needs images";
  const std::map<std::string, int> expected{{"", 1}, {"needs images", 1}};
  EXPECT_EQ(untried(report, report.devices[0]), expected);
}

}  // namespace
}  // namespace clvet
