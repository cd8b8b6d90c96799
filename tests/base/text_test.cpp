#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/text.h"

namespace clvet {
namespace {

#define U "\xEF\xBF\xBD"

struct Row {
  const char* name;
  std::string bytes, clean;
};

class CleanUtf8 : public testing::TestWithParam<Row> {};

TEST_P(CleanUtf8, GivesTextThatMayBeStoredAndPrinted) {
  const std::string clean = clean_utf8(GetParam().bytes);
  EXPECT_EQ(clean, GetParam().clean);
  EXPECT_EQ(clean_utf8(clean), clean) << "clean text stays as it is";
}

INSTANTIATE_TEST_SUITE_P(
    Text, CleanUtf8,
    testing::Values(
        Row{"ascii", "Mali-G78 r0p1", "Mali-G78 r0p1"}, Row{"empty", "", ""},
        Row{"two_bytes", "\xC3\xA9", "\xC3\xA9"},
        Row{"three_bytes", "\xE2\x82\xAC", "\xE2\x82\xAC"},
        Row{"four_bytes", "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
        Row{"lone_continuation", "a\x80z", "a" U "z"},
        Row{"never_valid", "Mali-\xFFG", "Mali-" U "G"}, Row{"cut_two", "a\xC3", "a" U},
        Row{"cut_three", "\xE2\x82", U U}, Row{"cut_four_then_text", "\xF0\x9F\x98z", U U U "z"},
        Row{"overlong_slash", "\xC0\xAF", U U}, Row{"overlong_three", "\xE0\x80\x80", U U U},
        Row{"overlong_four", "\xF0\x80\x80\x80", U U U U}, Row{"surrogate", "\xED\xA0\x80", U U U},
        Row{"beyond_unicode", "\xF4\x90\x80\x80", U U U U},
        Row{"last_code_point", "\xF4\x8F\xBF\xBF", "\xF4\x8F\xBF\xBF"},
        Row{"tab_and_newline_stay", "a\tb\n", "a\tb\n"},
        Row{"escape_sequence", "\x1B[31m", U "[31m"}, Row{"carriage_return", "a\rb", "a" U "b"},
        Row{"delete", "\x7F", U}, Row{"nul_inside", std::string("a\0b", 3), "a" U "b"},
        Row{"c1_control_sequence_introducer",
            "\xC2\x9B"
            "31m",
            U "31m"},
        Row{"first_after_c1", "\xC2\xA0", "\xC2\xA0"}),
    [](const auto& info) { return info.param.name; });

TEST(OneLine, HoldsNoLineBreaksAndIsShort) {
  EXPECT_EQ(one_line("two\nlines\tand\x1B"), "two lines and" U);
  EXPECT_LT(one_line(std::string(100000, 'x')).size(), 240u);
}

TEST(Utf8, LengthsAreThoseOfTheFirstValidSequence) {
  EXPECT_EQ(utf8_length("az"), 1u);
  EXPECT_EQ(utf8_length("\xE2\x82\xAC!"), 3u);
  EXPECT_EQ(utf8_length("\xE2\x82"), 0u);
  EXPECT_EQ(utf8_length("\x80"), 0u);
  EXPECT_EQ(utf8_length(""), 0u);
  EXPECT_TRUE(is_utf8("a\xC3\xA9\n"));
  EXPECT_FALSE(is_utf8("a\xC3"));
}

TEST(DriverString, EndsAtTheReturnedLengthOrAtTheFirstNul) {
  EXPECT_EQ(driver_string(std::string_view("OpenCL 1.2\0junk", 15)), "OpenCL 1.2");
  EXPECT_EQ(driver_string(std::string_view("OpenCL 1.2 and more", 10)), "OpenCL 1.2");
  EXPECT_EQ(driver_string(std::string_view("\0", 1)), "");
  EXPECT_EQ(driver_string("G78\xFF"), "G78" U);
}

TEST(Shorten, CutsAtACharacterAndSaysHowMuchIsLeftOut) {
  EXPECT_EQ(shorten("short", 5), "short");
  EXPECT_EQ(shorten("longer", 4), "long [2 bytes more]");
  EXPECT_EQ(shorten("a\xE2\x82\xAC"
                    "b",
                    3),
            "a [4 bytes more]")
      << "a character stays whole";
  EXPECT_EQ(shorten("", 0), "");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_EQ(split("a::b", ':'), (std::vector<std::string>{"a", "", "b"}));
  EXPECT_EQ(split("", ':'), std::vector<std::string>{""});
  EXPECT_EQ(split(":", ':'), (std::vector<std::string>{"", ""}));
}

TEST(Trim, TakesBlanksOffBothEnds) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

TEST(ThreeDigits, HaveNoExponentHoweverLargeTheNumberIs) {
  for (const auto& [value, text] : {std::pair(0.1234, "0.123"),
                                    {5.5, "5.5"},
                                    {999.4, "999"},
                                    {999.6, "1000"},
                                    {6291.4, "6291"},
                                    {1e6, "1000000"},
                                    {-5000.0, "-5000"},
                                    {0.0, "0"}}) {
    EXPECT_EQ(three_digits(value), text);
  }
}

TEST(ContainsIgnoringCase, FindsAPartAnywhere) {
  EXPECT_TRUE(contains_ignoring_case("Mali-G78 MC14", "mali-g78"));
  EXPECT_TRUE(contains_ignoring_case("x", ""));
  EXPECT_FALSE(contains_ignoring_case("Mali", "Mali-G78"));
}

}  // namespace
}  // namespace clvet
