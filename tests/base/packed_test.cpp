#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "base/packed.h"

namespace clvet {
namespace {

TEST(Packed, GivesValuesBackInTheirOrder) {
  std::string text;
  put_packed(uint32_t{7}, text);
  put_packed(-0.5, text);
  EXPECT_EQ(text.size(), 12U);
  std::string_view left = text;
  uint32_t number = 0;
  double real = 0;
  EXPECT_TRUE(take_packed(left, number));
  EXPECT_TRUE(take_packed(left, real));
  EXPECT_EQ(number, 7U);
  EXPECT_EQ(real, -0.5);
  EXPECT_TRUE(left.empty());
}

TEST(Packed, ChangesNothingWhereTheTextIsTooShort) {
  std::string_view left = "abc";
  uint32_t number = 5;
  EXPECT_FALSE(take_packed(left, number));
  EXPECT_EQ(number, 5U);
  EXPECT_EQ(left, "abc");
}

}  // namespace
}  // namespace clvet
