#include "base/language.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstddef>
#include <optional>
#include <string>

#include "base/embedded.h"
#include "base/json.h"
#include "embedded_catalogue.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::Not;

class LanguageTest : public testing::Test {
 protected:
  void TearDown() override { set_language(Language::kEnglish); }
};

// `format` with "A0 x", "A1 x", ... in its fields, whatever their specifications are.
std::string filled(const std::string& format) {
  std::string text;
  size_t next = 0;
  for (size_t at = 0; at < format.size(); ++at) {
    const char c = format[at];
    if ((c == '{' || c == '}') && at + 1 < format.size() && format[at + 1] == c) {
      text += c;
      ++at;
    } else if (c == '{') {
      const size_t end = format.find('}', at);
      const std::string number = format.substr(at + 1, format.find_first_of(":}", at) - at - 1);
      text += "A" + (number.empty() ? std::to_string(next) : number) + " x";
      ++next;
      at = end;
    } else {
      text += c;
    }
  }
  return text;
}

TEST_F(LanguageTest, IsNamedByLocalesAndWords) {
  EXPECT_EQ(language_named("zh_CN.UTF-8"), Language::kChinese);
  EXPECT_EQ(language_named("zh"), Language::kChinese);
  EXPECT_EQ(language_named("zh-TW"), Language::kChinese);
  EXPECT_EQ(language_named("C.UTF-8"), Language::kEnglish);
  EXPECT_EQ(language_named("en_GB"), Language::kEnglish);
  EXPECT_EQ(language_named("fr"), std::nullopt);
  EXPECT_EQ(language_named("zhx"), std::nullopt);
}

TEST_F(LanguageTest, IsThatOfTheFirstVariableThatIsSet) {
  ::setenv("LC_ALL", "", 1);
  ::setenv("LC_MESSAGES", "zh_CN.UTF-8", 1);
  ::setenv("LANG", "en_US.UTF-8", 1);
  EXPECT_EQ(language_of_locale(), Language::kChinese);
  ::setenv("LC_ALL", "C", 1);
  EXPECT_EQ(language_of_locale(), Language::kEnglish);
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) ::unsetenv(name);
  EXPECT_EQ(language_of_locale(), Language::kEnglish);
}

TEST_F(LanguageTest, LeavesTextsInEnglishUntilItIsSet) {
  EXPECT_EQ(tr("report written: {}", "r.json"), "report written: r.json");
  EXPECT_EQ(translated("no report for this machine yet"), "no report for this machine yet");
}

TEST_F(LanguageTest, FillsTheFormatOfTheCatalogue) {
  set_language(Language::kChinese);
  EXPECT_EQ(tr("report written: {}", "r.json"), "报告已写入:r.json");
  EXPECT_EQ(tr("a text that no catalogue has: {}", 3), "a text that no catalogue has: 3");
}

TEST_F(LanguageTest, TranslatesASentenceThatStandsInAnother) {
  set_language(Language::kChinese);
  EXPECT_EQ(
      translated("no report for this machine yet; trying the kernels that are needed first (once)"),
      "本机还没有报告;先试验所需的内核(只需一次)");
  EXPECT_EQ(translated("/a b/c: No such file or directory"), "/a b/c: 没有那个文件或目录");
  EXPECT_EQ(
      translated("no combination can run the model: kernel gemm_tile4x4: not tried: 8 kernels with "
                 "half_arithmetic ended alike, with crash in build (signal 11), and none came "
                 "through"),
      "没有组合能运行此模型:内核 gemm_tile4x4:未试验:8 个含有 half_arithmetic "
      "的内核以同样的方式结束(crash in build (signal 11)),没有一个运行到底");
}

TEST_F(LanguageTest, TranslatesEachOfAList) {
  set_language(Language::kChinese);
  EXPECT_EQ(translated("any OpenCL driver, model G52, cl_khr_fp16"),
            "任何 OpenCL 驱动, 型号 G52, cl_khr_fp16");
  EXPECT_EQ(translated("known issue mali-x (grade B): driver mali, model G78"),
            "已知问题 mali-x(B 级):驱动 mali, 型号 G78");
  EXPECT_EQ(translated("any OpenCL driver, the quick brown fox"),
            "any OpenCL driver, the quick brown fox");
}

TEST_F(LanguageTest, KeepsNamesThatAreWordsOfTheCatalogue) {
  set_language(Language::kChinese);
  EXPECT_EQ(translated("report written: Killed"), "报告已写入:Killed");
}

TEST_F(LanguageTest, KeepsWhatItDoesNotKnow) {
  set_language(Language::kChinese);
  EXPECT_EQ(translated("the quick brown fox: jumps"), "the quick brown fox: jumps");
  EXPECT_EQ(translated(""), "");
  EXPECT_EQ(translated("{}"), "{}");
}

// With each part of a part looked up again, this takes years.
TEST_F(LanguageTest, ReadsALogOfManyLinesWithoutLookingAtEachPartTwice) {
  set_language(Language::kChinese);
  std::string log;
  for (int line = 0; line < 2000; ++line)
    log += fmt::format("error: use of type 'half', {}: in kernel: declared here, note\n", line);
  EXPECT_EQ(translated("report written: " + log), "报告已写入:" + log);
}

// Two formats that fit one sentence would swap their translations.
TEST_F(LanguageTest, FindsTheFormatOfEverySentence) {
  set_language(Language::kChinese);
  for (const EmbeddedFile& file : embedded_catalogue()) {
    const auto entries = nlohmann::json::parse(file.text);
    for (const auto& [english, chinese] : entries.items()) {
      const std::string sentence = filled(english), wanted = filled(chinese.get<std::string>());
      EXPECT_EQ(translated(sentence), wanted) << english;
      // An option's value is refused so. What has a colon itself may be taken apart there.
      if (sentence.find(' ') != std::string::npos && sentence.find(": ") == std::string::npos)
        EXPECT_EQ(translated("--option: " + sentence), "--option: " + wanted) << english;
    }
  }
}

}  // namespace
}  // namespace clvet
