#include "base/columns.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace clvet {
namespace {

TEST(Columns, OfChineseGlyphsAreTwoEach) {
  EXPECT_EQ(columns_of("Mali-G78 r0p1"), 13U);
  EXPECT_EQ(columns_of("还需 3 秒"), 9U);
  EXPECT_EQ(columns_of("한글。😀"), 8U);
  EXPECT_EQ(columns_of("é — ×"), 5U);
  EXPECT_EQ(columns_of("e\xCC\x81"), 1U) << "an accent of its own stands on its letter";
  EXPECT_EQ(columns_of(""), 0U);
}

TEST(Columns, TextThatFitsStaysAsItIs) {
  EXPECT_EQ(fit_columns("还需 3 秒", 9), "还需 3 秒");
  EXPECT_EQ(fit_columns("", 0), "");
}

TEST(Columns, TextIsCutBetweenGlyphsAndNeverWiderThanAsked) {
  EXPECT_EQ(fit_columns("abcdefgh", 7), "abcd...");
  EXPECT_EQ(fit_columns("设备用例很长", 8), "设备...") << "half a glyph does not fit";
  const std::string mixed = "a设b备c用\xCC\x81例很😀长";
  for (size_t columns = 0; columns < 20; ++columns)
    EXPECT_LE(columns_of(fit_columns(mixed, columns)), columns);
}

}  // namespace
}  // namespace clvet
