#include "base/pattern.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(Pattern, FitsAllOfATextOrIsFoundInIt) {
  const Pattern pattern("[0-9]+");
  EXPECT_TRUE(pattern.fits("17"));
  EXPECT_FALSE(pattern.fits("v17"));
  EXPECT_TRUE(pattern.found_in("v17"));
  EXPECT_FALSE(pattern.found_in("v"));
  EXPECT_FALSE(pattern.found_in(std::string_view()));
  EXPECT_TRUE(Pattern("a*").fits(std::string_view()));
}

TEST(Pattern, TakesEitherCaseWhereItIsTold) {
  EXPECT_FALSE(Pattern("mali").fits("Mali"));
  EXPECT_TRUE(Pattern("mali", Pattern::Case::kAny).fits("Mali"));
}

TEST(Pattern, GivesTheGroups) {
  const Pattern pattern("(r|p)([0-9]+)(x)?");
  EXPECT_THAT(pattern.parts("r12"), ElementsAre("r12", "r", "12", ""));
  EXPECT_THAT(pattern.parts("-r12"), IsEmpty());
  EXPECT_THAT(pattern.first_parts("-r12-p7"), ElementsAre("r12", "r", "12", ""));
  EXPECT_THAT(pattern.first_parts("-"), IsEmpty());
}

TEST(Pattern, ReplacesEachPart) {
  EXPECT_EQ(Pattern("([a-z])[0-9]").replace_in("a1 b2 c", "$1#"), "a# b# c");
}

TEST(Pattern, DoesNotFitWhatTakesTooManySteps) {
  const Pattern hostile("(a+)+$");
  const std::string text = std::string(60, 'a') + "b";
  EXPECT_FALSE(hostile.fits(text));
  EXPECT_FALSE(hostile.found_in(text));
  EXPECT_THAT(hostile.first_parts(text), IsEmpty());
  EXPECT_THROW(hostile.replace_in(text, ""), std::runtime_error);
  EXPECT_TRUE(hostile.fits(std::string(100000, 'a')));
}

TEST(Pattern, SearchesTextsOfAnyLength) {
  const std::string text(5'000'000, 'a');
  EXPECT_FALSE(Pattern("[0-9]+a").found_in(text));
  EXPECT_EQ(Pattern("b").replace_in(text + "b", "").size(), text.size());
}

TEST(Pattern, ThrowsOnWhatIsNoPattern) { EXPECT_THROW(Pattern("("), std::runtime_error); }

}  // namespace
}  // namespace clvet
