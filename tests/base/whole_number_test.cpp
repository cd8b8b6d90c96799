#include "base/whole_number.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string_view>

namespace clvet {
namespace {

TEST(WholeNumber, IsReadWhereItIsAllOfTheText) {
  EXPECT_EQ(whole_number("0"), 0);
  EXPECT_EQ(whole_number("-12"), -12);
  EXPECT_EQ(whole_number("9223372036854775807"), std::numeric_limits<int64_t>::max());
}

TEST(WholeNumber, IsNothingElse) {
  for (const std::string_view text :
       {"", "-", "+1", " 1", "1 ", "1.0", "0x10", "9223372036854775808"})
    EXPECT_FALSE(whole_number(text)) << text;
}

}  // namespace
}  // namespace clvet
