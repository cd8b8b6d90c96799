#include "base/row_file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/json.h"  // IWYU pragma: keep
#include "base/result.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Key;

class RowFileTest : public testing::Test {
 protected:
  RowFile file(size_t most = 3) const { return {path_, "rows/1", most}; }
  Status put(const std::string& name, double at, size_t most = 3) const {
    return file(most).change([&](RowFile::Rows& rows) { rows[name] = {{"at", at}}; });
  }

  const test::TempDir dir_;
  const std::string path_ = dir_ / "new/rows.json";
};

TEST_F(RowFileTest, KeepsRowsBetweenRunsAndMakesItsFolder) {
  EXPECT_THAT(file().read(), IsEmpty());
  ASSERT_TRUE(put("a", 1));
  ASSERT_TRUE(put("b", 2));
  EXPECT_THAT(file().read(), ElementsAre(Key("a"), Key("b")));
}

TEST_F(RowFileTest, ForgetsTheOldestBeyondItsMost) {
  for (const auto& [name, at] : {std::pair("old", 1.0), {"new", 5.0}, {"middle", 3.0}}) {
    ASSERT_TRUE(put(name, at, 2));
  }
  EXPECT_THAT(file().read(), ElementsAre(Key("middle"), Key("new")));
}

TEST_F(RowFileTest, TakesWhatItCannotReadForNone) {
  ASSERT_TRUE(make_folders(dir_ / "new"));
  for (const char* text :
       {"", "{", "[]", "3", R"({"schema": "rows/2", "rows": {"a": {"at": 1}}})",
        R"({"schema": "rows/1", "rows": [{"at": 1}]})", R"({"schema": "rows/1"})",
        R"({"schema": "rows/1", "rows": {"a": 1, "b": {}, "c": {"at": "1"}, "d": {"at": -1}}})"}) {
    test::put(path_, text);
    EXPECT_THAT(file().read(), IsEmpty()) << text;
    EXPECT_TRUE(put("a", 1)) << text;
    EXPECT_THAT(file().read(), ElementsAre(Key("a"))) << text;
  }
}

TEST_F(RowFileTest, HoldsNamesThatAreNoUtf8) {
  ASSERT_TRUE(put("a\xff", 1));
  EXPECT_EQ(file().read().size(), 1u);
}

TEST_F(RowFileTest, SaysWhereItCannotWrite) {
  test::put(dir_ / "new", "a file");
  EXPECT_FALSE(put("a", 1));
}

TEST(RowNumber, IsFiniteAndNotNegative) {
  const nlohmann::json row = {{"good", 2.5}, {"less", -1}, {"word", "2"}, {"huge", 1e308 * 10}};
  EXPECT_EQ(row_number(row, "good"), 2.5);
  for (const char* name : {"less", "word", "huge", "absent"}) EXPECT_FALSE(row_number(row, name));
  EXPECT_EQ(row_text(row, "word"), "2");
  EXPECT_EQ(row_text(row, "good"), "");
}

}  // namespace
}  // namespace clvet
