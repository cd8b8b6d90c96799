#include "tests/english.h"

#include <gmock/gmock.h>

namespace clvet::test {
namespace {

TEST(EnglishIn, FindsThreeWordsInARow) {
  EXPECT_EQ(english_in("the model has no input"), "the model has no input");
  EXPECT_EQ(english_in("本机 the driver failed"), "the driver failed");
  EXPECT_EQ(english_in("Wrong: values, which are bad"), "values, which are bad");
  EXPECT_EQ(english_in("clvet: no such device here"), "no such device here");
  EXPECT_EQ(english_in("已完成 (see the log)"), "(see the log)");
  EXPECT_EQ(english_in("the driver's own words. 完"), "the driver's own words.");
}

TEST(EnglishIn, TakesNoFewerAndNoWordsApart) {
  for (const char* line :
       {"", "报告已写入:r.json", "two words", "one two. three four", "one two (three four)",
        "精度 low,内存 normal", "a b c d", "one  two  three", "GPU One Two Three"})
    EXPECT_EQ(english_in(line), "") << line;
}

TEST(EnglishIn, LeavesOutWhatIsAName) {
  for (const char* line :
       {"输入 'the name of it' 不存在", "设备 \"the best of all\" 不可用",
        "见 one two/three four five.so six", "  clvet run model with these words",
        "mnn tnn mace tflite tvm", "asahi freedreno iris llvmpipe",
        "坏:[json.exception.x] this is not it; last read: 'a b';重做", "no_word here and2 now_on"})
    EXPECT_EQ(english_in(line), "") << line;
  EXPECT_EQ(english_in("it's not 'this' but that"), "") << "an apostrophe within a word";
}

TEST(EnglishLines, LeaveOutTheWordsOfOthers) {
  EXPECT_THAT(
      english_lines("好\n    | found the library here\na.so: cannot open shared object file: x"),
      testing::IsEmpty());
  EXPECT_THAT(english_lines("好\n  this is not good\n"),
              testing::ElementsAre("'this is not good' in:   this is not good"));
}

TEST(TextOfPage, IsWhatIsShown) {
  EXPECT_EQ(text_of_page("<style>a b</style><p class=\"x\">don&#39;t</p>"), "\n\ndon't\n");
}

}  // namespace
}  // namespace clvet::test
