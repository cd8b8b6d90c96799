#include "base/regex.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> pieces_of(std::string_view pattern, std::string_view text) {
  const auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex) << regex.error().message;
  std::vector<std::string_view> pieces;
  const Status done = regex->split(text, pieces);
  EXPECT_TRUE(done) << done.error().message;
  return {pieces.begin(), pieces.end()};
}

TEST(Regex, GivesMatchesAndWhatLiesBetweenThem) {
  EXPECT_THAT(pieces_of("[0-9]+", "12ab3c"), ElementsAre("12", "ab", "3", "c"));
  EXPECT_THAT(pieces_of("x", "abc"), ElementsAre("abc"));
  EXPECT_THAT(pieces_of("a", "aa"), ElementsAre("a", "a"));
  EXPECT_THAT(pieces_of("a", ""), IsEmpty());
}

TEST(Regex, TakesNoEmptyMatches) {
  EXPECT_THAT(pieces_of("a*", "baab"), ElementsAre("b", "aa", "b"));
  EXPECT_THAT(pieces_of("", "ab"), ElementsAre("ab"));
}

TEST(Regex, CountsCharactersOfUnicodeNotBytes) {
  EXPECT_THAT(pieces_of(".", "\xC3\xA9\xE2\x82\xAC"), ElementsAre("\xC3\xA9", "\xE2\x82\xAC"));
  EXPECT_THAT(pieces_of("\\p{N}", "1\xD9\xA3x"), ElementsAre("1", "\xD9\xA3", "x"));
  EXPECT_THAT(pieces_of("\\s+", "a\xC2\xA0\xE2\x80\x83z"),
              ElementsAre("a", "\xC2\xA0\xE2\x80\x83", "z"));
}

TEST(Regex, TakesTextWithZerosInIt) {
  const std::string text("a\0b", 3);
  EXPECT_THAT(pieces_of("b", text), ElementsAre(std::string("a\0", 2), "b"));
}

TEST(Regex, SaysWhereAPatternIsWrong) {
  for (const char* pattern : {"(", "[a", "a**b(", "\\p{Nothing}"}) {
    const auto regex = Regex::compile(pattern);
    ASSERT_FALSE(regex) << pattern;
    EXPECT_EQ(regex.error().code, ErrorCode::kInternal);
    EXPECT_THAT(regex.error().message, HasSubstr(pattern));
  }
}

TEST(Regex, IsAnErrorWhereItTakesTooManySteps) {
  const auto regex = Regex::compile("(a+)+$");
  ASSERT_TRUE(regex);
  std::vector<std::string_view> pieces;
  const std::string text = std::string(60, 'a') + "b";
  const Status done = regex->split(text, pieces);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kResourceExhausted);
  EXPECT_THAT(done.error().message, HasSubstr("61 bytes"));
}

TEST(Regex, OverBytesKnowsNoUnicodeAndNoLineBreakAtTheEnd) {
  const auto regex = Regex::compile("(.)$", Regex::Syntax::kBytes);
  ASSERT_TRUE(regex);
  EXPECT_THAT(*regex->parts("\xC3\xA9", Regex::Reach::kAnyPart), ElementsAre("\xA9", "\xA9"));
  EXPECT_THAT(*regex->parts("a\n", Regex::Reach::kAnyPart), IsEmpty());
  EXPECT_THAT(*regex->parts("a\r", Regex::Reach::kAnyPart), IsEmpty());
  EXPECT_FALSE(Regex::compile("(*UTF).", Regex::Syntax::kBytes));
}

TEST(Regex, GivesTheWholeOrTheFirstPart) {
  const auto regex = Regex::compile("a|ab", Regex::Syntax::kBytes);
  ASSERT_TRUE(regex);
  EXPECT_THAT(*regex->parts("xab", Regex::Reach::kAnyPart), ElementsAre("a"));
  EXPECT_THAT(*regex->parts("ab", Regex::Reach::kWhole), ElementsAre("ab"));
  EXPECT_THAT(*regex->parts("abx", Regex::Reach::kWhole), IsEmpty());
}

TEST(Regex, GrowsWhatItReplaces) {
  const auto regex = Regex::compile("(a)|b", Regex::Syntax::kBytes);
  ASSERT_TRUE(regex);
  EXPECT_EQ(*regex->replaced("ab", "<$1$1$1>"), "<aaa><>");
  EXPECT_EQ(*regex->replaced("", "long"), "");
  EXPECT_EQ(regex->replaced(std::string(100, 'a'), "0123456789")->size(), 1000u);
}

}  // namespace
}  // namespace clvet
