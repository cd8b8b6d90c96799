#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "base/json.h"

namespace clvet {
namespace {

using Json = nlohmann::json;

TEST(JsonIntegers, AreReadWhereTheirTypeHoldsThem) {
  EXPECT_EQ(Json::parse("2147483647").get<int>(), 2147483647);
  EXPECT_EQ(Json::parse("-2147483648").get<int>(), INT32_MIN);
  EXPECT_EQ(Json::parse("9223372036854775807").get<int64_t>(), INT64_MAX);
  EXPECT_EQ(Json::parse("18446744073709551615").get<uint64_t>(), UINT64_MAX);
  EXPECT_EQ(Json::parse("1e3").get<int>(), 1000);
  EXPECT_EQ(Json::parse("[1, 2]").get<std::vector<int>>(), (std::vector<int>{1, 2}));
}

TEST(JsonIntegers, AreRefusedWhereTheyWouldBeCutOff) {
  for (const char* text : {"2147483648", "-2147483649", "1e10", "0.5", "1.66494e+133", "-1e300",
                           "9223372036854775808", "\"7\"", "[1]", "null"}) {
    EXPECT_THROW((void)Json::parse(text).get<int>(), Json::exception) << text;
  }
  for (const char* text : {"9223372036854775808", "9.3e18", "-9.3e18", "1e400", "1.25"}) {
    const Json json = Json::parse(text, nullptr, false);
    if (!json.is_discarded()) EXPECT_THROW((void)json.get<int64_t>(), Json::exception) << text;
  }
  EXPECT_THROW((void)Json::parse("-1").get<uint64_t>(), Json::exception);
  EXPECT_THROW((void)Json::parse("-1.0").get<uint32_t>(), Json::exception);
}

TEST(JsonIntegers, AreWrittenAsTheyAre) {
  EXPECT_EQ(Json(INT64_MIN).dump(), "-9223372036854775808");
  EXPECT_EQ(Json(UINT64_MAX).dump(), "18446744073709551615");
  EXPECT_EQ(Json(std::vector<int>{-1, 2}).dump(), "[-1,2]");
}

}  // namespace
}  // namespace clvet
