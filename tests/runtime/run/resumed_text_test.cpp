#include "runtime/run/resumed_text.h"

#include <gtest/gtest.h>

#include <string>

#include "runtime/exec/flight.h"

namespace clvet {
namespace {

SaidText said(const std::string& text) {
  SaidText out;
  out.add(text);
  return out;
}

TEST(ResumedText, PrintsAtOnceWhereNothingStandsYet) {
  ResumedText text(said(""));
  EXPECT_EQ(text.next("ab"), "ab");
  EXPECT_EQ(text.next("c"), "c");
  EXPECT_EQ(text.rest(), "");
}

TEST(ResumedText, PrintsNothingTwice) {
  ResumedText text(said("abcd"));
  EXPECT_EQ(text.next("ab"), "");
  EXPECT_EQ(text.next("cdef"), "ef");
  EXPECT_EQ(text.next("g"), "g");
}

TEST(ResumedText, BeginsAgainWhereItIsAnotherText) {
  ResumedText text(said("abcd"));
  EXPECT_EQ(text.next("abX"), "");
  EXPECT_EQ(text.next("YZ"), "\nabXYZ");
  EXPECT_EQ(text.next("!"), "!");
}

TEST(ResumedText, PrintsATextThatIsShorterThanTheOneThatStands) {
  ResumedText text(said("abcd"));
  EXPECT_EQ(text.next("ab"), "");
  EXPECT_EQ(text.rest(), "\nab");
}

}  // namespace
}  // namespace clvet
