#include "tests/conformance/summary.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/conformance/run_case.h"
#include "tests/conformance/suite.h"

namespace clvet::conformance {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<Case> four_cases() {
  std::vector<Case> cases(4);
  for (Case& row : cases) row.class_a = true;
  cases[0].real_model = cases[2].real_model = true;
  return cases;
}

TEST(Summary, OnlyWhatRanThereOrIsOnTheListCountsForOpenCl) {
  const std::vector<CaseResult> device = {{"a", kOpenCl, {}, {}},
                                          {"b", kHostByDesign, {}, {}},
                                          {"c", kFellBack, {}, {{"Pad", "no kernel"}}},
                                          {"d", kCrash, {}, {{"Pad", "signal"}}}};
  const std::vector<CaseResult> host = {{"a", kHost, {}, {}},
                                        {"b", kHost, {}, {}},
                                        {"c", kHost, {}, {}},
                                        {"d", kWrong, {}, {{"Pad", "wrong"}}}};
  Suite suite;
  suite.class_a = 1197;
  suite.real_model = 375;
  EXPECT_EQ(
      final_lines(tally(four_cases(), device, host), suite),
      "class-A real-model ops, OpenCL: 1 of 375\nclass-A, OpenCL: 2 of 1197\nclass-A, host: 3 "
      "of 1197\n");
}

TEST(Summary, ARightAnswerCountsWhereverItWasComputed) {
  const std::vector<CaseResult> results = {
      {"a", kOpenCl, {}, {}}, {"b", kHostByDesign, {}, {}}, {"c", kFellBack, {}, {}},
      {"d", kHost, {}, {}},   {"e", kUnsupported, {}, {}},  {"f", kWrong, {}, {}},
      {"g", kCrash, {}, {}}};
  const Outcome out = outcome_of(results);
  EXPECT_EQ(out.right, 4U);
  EXPECT_EQ(out.refused, 1U);
  EXPECT_EQ(out.wrong, 2U);
}

TEST(Summary, TheTableBeginsWithTheOperatorThatAloneKeepsMostCases) {
  const std::vector<CaseResult> results = {
      {"a", kUnsupported, {}, {{"Trilu", "no such operator"}, {"Pad", "no kernel"}}},
      {"b", kFellBack, {}, {{"Resize", "no kernel"}, {"Resize", "no kernel"}}},
      {"c", kFellBack, {}, {{"Pad", "no kernel"}}},
      {"d", kOpenCl, {}, {}}};
  const std::string table = operator_table(four_cases(), results);
  EXPECT_LT(table.find("Pad"), table.find("Resize"));
  EXPECT_LT(table.find("Resize"), table.find("Trilu"));
  EXPECT_THAT(table, HasSubstr("fell-back 1, unsupported 1"));
}

TEST(Summary, ACaseThatCountsBlamesNobody) {
  const std::vector<CaseResult> results = {{"a", kHostByDesign, {}, {{"Shape", "by design"}}}};
  EXPECT_THAT(operator_table(four_cases(), results), Not(HasSubstr("Shape")));
}

}  // namespace
}  // namespace clvet::conformance
