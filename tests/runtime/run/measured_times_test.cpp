#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>

#include "base/file.h"
#include "runtime/run/measured_times.h"
#include "tests/support.h"

namespace clvet {
namespace {

class MeasuredTimesFileTest : public testing::Test {
 protected:
  const test::TempDir dir_;
  const std::string path_ = dir_ / "times.json";
};

TEST_F(MeasuredTimesFileTest, RemembersWhatItWasToldAfterItIsReadAgain) {
  ASSERT_TRUE(MeasuredTimesFile(path_).keep("a", {4, 3}));
  ASSERT_TRUE(MeasuredTimesFile(path_).keep("b", {1, 2}));
  const MeasuredTimesFile read(path_);
  EXPECT_EQ(read.find("a")->device_ms, 4);
  EXPECT_EQ(read.find("a")->host_ms, 3);
  EXPECT_EQ(read.find("b")->host_ms, 2);
  EXPECT_FALSE(read.find("c"));
}

TEST_F(MeasuredTimesFileTest, TakesADamagedFileForAnEmptyOne) {
  for (const char* text :
       {"", "{", "[]", "{\"schema\": \"clvet.times/1\"}", "{\"schema\": 3, \"rows\": {}}",
        "{\"schema\": \"clvet.times/1\", \"rows\": [1]}",
        "{\"schema\": \"clvet.times/1\", \"rows\": {\"a\": 1}}",
        "{\"schema\": \"clvet.times/1\", \"rows\": {\"a\": {\"device_ms\": \"1\"}}}",
        "{\"schema\": \"clvet.times/1\", \"rows\": {\"a\": {\"device_ms\": -1, \"host_ms\": 1, "
        "\"at\": 1}}}"}) {
    ASSERT_TRUE(write_file_atomically(path_, std::string_view(text)));
    MeasuredTimesFile file(path_);
    EXPECT_FALSE(file.find("a")) << text;
    EXPECT_TRUE(file.keep("a", {1, 1})) << text;
    EXPECT_TRUE(MeasuredTimesFile(path_).find("a")) << text;
  }
}

TEST_F(MeasuredTimesFileTest, ForgetsTheOldestRowsOnceItIsFull) {
  std::string rows;
  for (size_t i = 0; i < MeasuredTimesFile::kMostRows; ++i) {
    rows += fmt::format("{}\"k{}\": {{\"device_ms\": 1, \"host_ms\": 1, \"at\": {}}}", i ? "," : "",
                        i, i + 1);
  }
  rows = "{\"schema\": \"clvet.times/1\", \"rows\": {" + rows + "}}";
  ASSERT_TRUE(write_file_atomically(path_, rows));
  ASSERT_TRUE(MeasuredTimesFile(path_).keep("new", {1, 1}));
  const MeasuredTimesFile read(path_);
  EXPECT_TRUE(read.find("new"));
  EXPECT_FALSE(read.find("k0"));
  EXPECT_TRUE(read.find("k1"));
}

// Keys hold the names of a model's inputs.
TEST_F(MeasuredTimesFileTest, TakesKeysOfAnyBytes) {
  for (const std::string key : {"\xff x=[1]", "line\nbreak", "quote\"", "", "\xed\xa0\x80"}) {
    ASSERT_TRUE(MeasuredTimesFile(path_).keep(key, {1, 2})) << key;
    ASSERT_TRUE(MeasuredTimesFile(path_).keep(key, {3, 4})) << key;
    const auto times = MeasuredTimesFile(path_).find(key);
    ASSERT_TRUE(times) << key;
    EXPECT_EQ(times->host_ms, 4);
  }
}

TEST_F(MeasuredTimesFileTest, KeepsWhatIsNoTimeOnlyUntilItIsReadAgain) {
  for (const double ms : {HUGE_VAL - HUGE_VAL, HUGE_VAL, -1.0}) {
    ASSERT_TRUE(MeasuredTimesFile(path_).keep("a", {ms, 1}));
    EXPECT_FALSE(MeasuredTimesFile(path_).find("a")) << ms;
  }
}

TEST_F(MeasuredTimesFileTest, SaysThatItCannotWrite) {
  test::put(dir_ / "file", "");
  EXPECT_FALSE(MeasuredTimesFile(dir_ / "file/times.json").keep("a", {1, 1}));
}

TEST_F(MeasuredTimesFileTest, TakesAFileThatIsTooLargeForAnEmptyOne) {
  const std::string padding(5 << 20, ' ');
  ASSERT_TRUE(
      write_file_atomically(path_,
                            "{\"schema\": \"clvet.times/1\", \"rows\": {\"a\": {\"device_ms\": 1, "
                            "\"host_ms\": 1, \"at\": 1}}}" +
                                padding));
  EXPECT_FALSE(MeasuredTimesFile(path_).find("a"));
}

TEST(MeasuredTimes, PreferTheHostOnlyWhereItIsClearlyAhead) {
  EXPECT_TRUE((MeasuredTimes{10, 7}.host_wins()));
  EXPECT_FALSE((MeasuredTimes{10, 9}.host_wins()));
  EXPECT_FALSE((MeasuredTimes{10, 20}.host_wins()));
}

}  // namespace
}  // namespace clvet
