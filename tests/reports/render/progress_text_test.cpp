#include "reports/render/progress_text.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <limits>
#include <string>

#include "base/columns.h"
#include "base/event.h"
#include "base/language.h"
#include "tests/scoped_language.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

Event at(int done, int total, const std::string& text = "a device gemm_tile/high") {
  return {EventLevel::kProgress, text, done, total};
}

TEST(ProgressText, TellsTheShareAndWhatIsLeft) {
  ProgressText progress;
  EXPECT_EQ(progress.line(at(1, 200), 10, 80), "[1/200] 0 %: a device gemm_tile/high");
  EXPECT_EQ(progress.line(at(21, 200), 20, 80),
            "[21/200] 10 %, 90 s left: a device gemm_tile/high");
}

TEST(ProgressText, SaysNoTimeBeforeThereIsAPace) {
  ProgressText progress;
  EXPECT_THAT(progress.line(at(50, 200), 10, 80), Not(HasSubstr("left")));
  EXPECT_THAT(progress.line(at(51, 200), 10.1, 80), Not(HasSubstr("left")));
  EXPECT_THAT(progress.line(at(51, 200), 14, 80), HasSubstr("left"));
}

TEST(ProgressText, ForgetsAPaceThatIsPast) {
  ProgressText progress;
  progress.line(at(0, 1000), 0, 80);
  progress.line(at(900, 1000), 1, 80);  // what an earlier run had found
  std::string line;
  for (int second = 2; second <= 90; ++second)
    line = progress.line(at(899 + second / 2, 1000), second, 80);
  EXPECT_THAT(line, HasSubstr("[944/1000] 94 %, 2 min left"));
}

TEST(ProgressText, BeginsAgainWithOtherWork) {
  ProgressText progress;
  progress.line(at(0, 100), 0, 80);
  EXPECT_THAT(progress.line(at(10, 100), 10, 80), HasSubstr("90 s left"));
  EXPECT_THAT(progress.line(at(1, 100), 11, 80), Not(HasSubstr("left")));
  progress.line(at(90, 100), 20, 80);
  EXPECT_THAT(progress.line(at(91, 300), 21, 80), Not(HasSubstr("left")));
}

TEST(ProgressText, FitsTheColumnsThatThereAreInEitherLanguage) {
  const std::string text =
      "一台名字很长的设备,名字长得一行放不下,而且还要更长一些才行 "
      "gemm_tile4x4/high/normal/buffer/odd";
  for (const Language language : {Language::kEnglish, Language::kChinese}) {
    const test::ScopedLanguage scoped(language);
    for (const size_t columns : {0, 1, 5, 40, 79}) {
      ProgressText progress;
      progress.line(at(3, 1000, text), 0, columns);
      const std::string line = progress.line(at(40, 1000, text), 9, columns);
      EXPECT_LE(columns_of(line), columns);
      if (columns == 79) EXPECT_GE(columns_of(line), 78U) << "no room is wasted: " << line;
    }
  }
}

TEST(ProgressText, IsOneLineWithoutControlCharactersWhateverADriverIsCalled) {
  ProgressText progress;
  EXPECT_EQ(progress.line(at(1, 2, "a\nb\x1b[2J\xff"), 0, 80).find_first_of("\n\x1b\xff"),
            std::string::npos);
  EXPECT_EQ(progress.line(at(0, 0, "only words"), 0, 80), "only words");
}

TEST(ProgressText, OfLargeTotalsDoesNotOverflow) {
  constexpr int kMost = std::numeric_limits<int>::max();
  ProgressText progress;
  EXPECT_THAT(progress.line(at(kMost - 1, kMost), 0, 80), HasSubstr("] 99 %"));
  EXPECT_THAT(progress.line(at(kMost, kMost), 5, 80), StartsWith("[2147483647/2147483647] 100 %"));
}

}  // namespace
}  // namespace clvet
