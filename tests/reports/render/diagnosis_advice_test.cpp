#include "reports/render/diagnosis_advice.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "base/language.h"
#include "runtime/precision/diagnosis.h"
#include "tests/scoped_language.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST(AdviceText, HasTheSettingsUnderTheEngine) {
  PrecisionPlan plan;
  plan.advice = {{"a", "Engine A", true, "Append it.", "加上。", {"n1 31=3"}, {"source"}},
                 {"b", "Engine B", false, "It cannot.", "不能。", {"high"}, {}}};
  EXPECT_EQ(advice_text(plan),
            "in other engines:\n"
            "  Engine A: these nodes alone\n    Append it.\n      n1 31=3\n"
            "  Engine B: the whole model\n    It cannot.\n      high\n");
  const test::ScopedLanguage chinese(Language::kChinese);
  EXPECT_THAT(advice_text(plan), AllOf(HasSubstr("加上。"), Not(HasSubstr("Append"))));
}

TEST(AdviceText, ShowsTheFirstOfManyLines) {
  PrecisionPlan plan;
  plan.advice = {{"a", "A", true, "t", "t", std::vector<std::string>(40, "line"), {}}};
  EXPECT_THAT(advice_text(plan), HasSubstr("and 20 more: --json lists them"));
}

TEST(AdviceText, IsEmptyWithoutAdvice) { EXPECT_EQ(advice_text(PrecisionPlan{}), ""); }

}  // namespace
}  // namespace clvet
