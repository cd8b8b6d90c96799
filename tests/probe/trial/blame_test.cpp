#include <gmock/gmock.h>

#include <string>
#include <utility>
#include <vector>

#include "probe/report/report.h"
#include "probe/trial/blame.h"

namespace clvet {
namespace {

using testing::HasSubstr;

VerdictReport verdict_of(Verdict word, Stage stage = Stage::kBuild, int signal = 6) {
  static int number = 0;
  VerdictReport row;
  row.case_name = "case " + std::to_string(++number);
  row.verdict = word;
  row.stage = stage;
  row.evidence.signal = signal;
  return row;
}

KernelMakeup kernel(std::vector<std::string> constructs, const std::string& program = "") {
  static int number = 0;
  return {std::move(constructs), program.empty() ? "program " + std::to_string(++number) : program};
}

void note_some(Blame& blame, int times, const std::vector<std::string>& constructs,
               const VerdictReport& verdict) {
  for (int i = 0; i < times; ++i) blame.note(kernel(constructs), verdict);
}

TEST(Blame, SuspectsAConstructThatEndedAWorkerAndNeverPassed) {
  Blame blame;
  blame.note(kernel({"half_arith", "barrier"}), verdict_of(Verdict::kCrash));
  EXPECT_TRUE(blame.suspects(kernel({"half_arith"})));
  EXPECT_TRUE(blame.suspects(kernel({"barrier"})));
  EXPECT_FALSE(blame.suspects(kernel({"image_half"})));
  EXPECT_FALSE(blame.suspects(kernel({})));
  blame.note(kernel({"barrier"}), verdict_of(Verdict::kPass));
  EXPECT_FALSE(blame.suspects(kernel({"barrier"})));
  EXPECT_TRUE(blame.suspects(kernel({"half_arith"})));
}

TEST(Blame, TakesWrongValuesForASignOfLife) {
  Blame blame;
  note_some(blame, 20, {"half_arith"}, verdict_of(Verdict::kCrash));
  blame.note(kernel({"half_arith"}), verdict_of(Verdict::kWrong));
  EXPECT_FALSE(blame.suspects(kernel({"half_arith"})));
  EXPECT_EQ(blame.why_not(kernel({"half_arith"})), "");
}

TEST(Blame, SuspectsNothingForWrongValuesAndErrors) {
  Blame blame;
  for (const Verdict word : {Verdict::kWrong, Verdict::kBuildError, Verdict::kLaunchError})
    note_some(blame, 20, {"half_arith"}, verdict_of(word));
  EXPECT_FALSE(blame.suspects(kernel({"half_arith"})));
  EXPECT_EQ(blame.why_not(kernel({"half_arith"})), "");
}

TEST(Blame, HasEnoughOfAConstructThatEndsAlikeAgainAndAgain) {
  Blame blame;
  note_some(blame, 7, {"half_arith"}, verdict_of(Verdict::kCrash));
  EXPECT_EQ(blame.why_not(kernel({"half_arith"})), "");
  note_some(blame, 1, {"half_arith"}, verdict_of(Verdict::kCrash));
  EXPECT_THAT(blame.why_not(kernel({"half_arith"})),
              testing::AllOf(HasSubstr("half_arith"), HasSubstr("crash in build")));
  EXPECT_EQ(blame.why_not(kernel({"barrier"})), "") << "of another construct nothing is known";
  EXPECT_EQ(blame.why_not(kernel({})), "");
}

TEST(Blame, CountsEndsThatDifferApartAndHangsSooner) {
  Blame blame;
  note_some(blame, 7, {"half_arith"}, verdict_of(Verdict::kCrash, Stage::kBuild, 6));
  note_some(blame, 7, {"half_arith"}, verdict_of(Verdict::kCrash, Stage::kBuild, 11));
  EXPECT_EQ(blame.why_not(kernel({"half_arith"})), "");
  note_some(blame, 2, {"half_arith"}, verdict_of(Verdict::kHang));
  EXPECT_THAT(blame.why_not(kernel({"half_arith"})), HasSubstr("hang"));
}

TEST(Blame, NeverStopsWhatOncePassed) {
  Blame blame;
  note_some(blame, 20, {"half_arith", "int_to_half"}, verdict_of(Verdict::kCrash));
  blame.note(kernel({"half_arith"}), verdict_of(Verdict::kPass));
  EXPECT_EQ(blame.why_not(kernel({"half_arith"})), "");
  EXPECT_THAT(blame.why_not(kernel({"half_arith", "int_to_half"})), HasSubstr("int_to_half"));
}

TEST(Blame, GivesUpAllKernelsOnlyByThoseWithoutConstructs) {
  Blame blame;
  note_some(blame, 20, {"half_arith"}, verdict_of(Verdict::kHang));
  EXPECT_EQ(blame.why_not(kernel({})), "");
  note_some(blame, 2, {}, verdict_of(Verdict::kHang));
  EXPECT_THAT(blame.why_not(kernel({"image_float"})), HasSubstr("without a special construct"));
  blame.note(kernel({"image_float"}), verdict_of(Verdict::kPass));
  EXPECT_EQ(blame.why_not(kernel({})), "") << "something works here";
}

TEST(Blame, NeedsMoreWhereTheCanaryIsRightAndCountsItWhereItIsNot) {
  Blame right;
  right.note_canary(CapabilityVerdict::kTrue, verdict_of(Verdict::kMissing));
  note_some(right, 3, {}, verdict_of(Verdict::kHang));
  EXPECT_EQ(right.why_not(kernel({})), "");
  note_some(right, 1, {}, verdict_of(Verdict::kHang));
  EXPECT_NE(right.why_not(kernel({})), "");
  Blame hangs;
  hangs.note_canary(CapabilityVerdict::kHang, verdict_of(Verdict::kHang));
  note_some(hangs, 1, {}, verdict_of(Verdict::kHang));
  EXPECT_NE(hangs.why_not(kernel({})), "");
}

TEST(Blame, HasEnoughOfAProgramThatEndsAlikeOnSomeShapes) {
  Blame blame;
  blame.note(kernel({}, "p"), verdict_of(Verdict::kHang, Stage::kFinish));
  EXPECT_EQ(blame.why_not(kernel({}, "p")), "");
  blame.note(kernel({}, "p"), verdict_of(Verdict::kHang, Stage::kFinish));
  EXPECT_THAT(blame.why_not(kernel({}, "p")), HasSubstr("test shapes"));
  EXPECT_EQ(blame.why_not(kernel({}, "q")), "");
}

}  // namespace
}  // namespace clvet
