#include "probe/report/tuned.h"

#include <gmock/gmock.h>

#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "probe/report/report.h"
#include "tests/support.h"

namespace clvet {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

TunedVariant variant(const std::string& name, double ms, int rounds = 9,
                     Verdict verdict = Verdict::kPass) {
  return {name, "key of " + name, verdict, ms, ms / 100, rounds, true};
}

TunedCall call(const std::string& name, std::vector<TunedVariant> variants,
               const std::string& date = "2026-02-02") {
  return {"environment", name, "Board", date, std::move(variants)};
}

class TunedTest : public testing::Test {
 protected:
  std::vector<TunedCall> kept() const {
    const auto document = read_tuned(file_);
    EXPECT_TRUE(document) << document.error().message;
    return document ? document->calls : std::vector<TunedCall>();
  }
  const test::TempDir dir_;
  const std::string file_ = tuned_file(dir_.path());
};

TEST_F(TunedTest, AreReadAsTheyWereKept) {
  EXPECT_THAT(kept(), IsEmpty());
  ASSERT_TRUE(keep_tuned(file_, {call("a", {variant("v", 2), variant("w", 1)})}, true));
  const auto read = kept();
  ASSERT_THAT(read, SizeIs(1));
  EXPECT_EQ(read[0].call, "a");
  ASSERT_THAT(read[0].variants, SizeIs(2));
  EXPECT_EQ(read[0].variants[1].median_ms, 1);
  EXPECT_EQ(read[0].variants[1].rounds, 9);
  EXPECT_TRUE(read[0].variants[1].checked_here);
  EXPECT_EQ(parse_tuned(tuned_to_json(read), "copy")->calls.size(), 1u);
}

TEST_F(TunedTest, OfAnotherMachineWithMoreRoundsStandButNotTheirFailuresAlone) {
  ASSERT_TRUE(keep_tuned(file_, {call("a", {variant("v", 2, 9), variant("w", 1, 9)})}, true));
  TunedCall other = call("a", {variant("v", 3, 20), variant("w", 0, 0, Verdict::kWrong)});
  for (TunedVariant& one : other.variants) one.checked_here = false;
  ASSERT_TRUE(keep_tuned(file_, {other}, false));
  auto read = kept();
  EXPECT_EQ(read[0].variants[0].median_ms, 3);
  EXPECT_TRUE(read[0].variants[0].checked_here) << "here, too, it was right";
  EXPECT_EQ(read[0].variants[1].verdict, Verdict::kWrong);
  ASSERT_TRUE(keep_tuned(file_, {call("a", {variant("v", 9, 5), variant("w", 1, 5)})}, false));
  read = kept();
  EXPECT_EQ(read[0].variants[0].median_ms, 3) << "fewer rounds";
  ASSERT_TRUE(keep_tuned(file_, {call("a", {variant("v", 9, 5), variant("w", 1, 5)})}, true));
  read = kept();
  EXPECT_EQ(read[0].variants[0].median_ms, 9) << "measured here and now";
  EXPECT_EQ(read[0].variants[1].verdict, Verdict::kWrong) << "what failed once stays out";
}

TEST_F(TunedTest, OfNoiseDoNotStandForTheirManyRounds) {
  TunedCall noisy = call("a", {variant("v", 2, 201)}), plain = call("a", {variant("v", 3, 41)});
  noisy.date = "2026-11-01T00:00:00Z";
  plain.date = "2026-11-02T00:00:00Z";
  ASSERT_TRUE(keep_tuned(file_, {noisy}, true));
  ASSERT_TRUE(keep_tuned(file_, {plain}, false));
  EXPECT_EQ(kept()[0].variants[0].median_ms, 3) << "enough rounds, and later";
}

TEST_F(TunedTest, LoseNothingWhereTwoProcessesKeepThem) {
  const auto write = [&](const std::string& prefix) {
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(keep_tuned(file_, {call(prefix + std::to_string(i), {variant("v", 1)})}, true));
    }
  };
  std::thread other([&] { write("b"); });
  write("a");
  other.join();
  EXPECT_THAT(kept(), SizeIs(40));
}

TEST_F(TunedTest, OfADocumentThatIsCutOffAreKeptAside) {
  ASSERT_TRUE(keep_tuned(file_, {call("a", {variant("v", 1)})}, true));
  const std::string text = test::get(file_);
  for (const std::string& bad : {text.substr(0, text.size() / 2), std::string(), std::string("[]"),
                                 std::string(R"({"schema": "clvet.tuned/2", "rows": {}})"),
                                 std::string(R"({"schema": "clvet.tuned/1", "rows": []})")}) {
    test::put(file_, bad);
    const auto read = read_tuned(file_);
    ASSERT_FALSE(read) << bad;
    EXPECT_THAT(read.error().message, HasSubstr(file_ + " holds no times"));
    ASSERT_TRUE(keep_tuned(file_, {call("b", {variant("v", 1)})}, true));
    EXPECT_THAT(kept(), SizeIs(1));
    EXPECT_EQ(test::get(file_ + ".damaged"), bad);
  }
}

TEST_F(TunedTest, LeaveOutARowThatIsNotInOrder) {
  ASSERT_TRUE(
      keep_tuned(file_, {call("a", {variant("v", 1)}), call("b", {variant("v", 1)})}, true));
  const nlohmann::json good = nlohmann::json::parse(test::get(file_));
  const auto refuses = [&](const char* path, const nlohmann::json& value) {
    nlohmann::json bad = good;
    bad["rows"]["environment a"][nlohmann::json::json_pointer(path)] = value;
    const auto read = parse_tuned(bad.dump(), "it");
    ASSERT_TRUE(read) << path << value;
    EXPECT_THAT(read->calls, SizeIs(1)) << path << value;
    ASSERT_THAT(read->faults, SizeIs(1)) << path << value;
    EXPECT_EQ(read->faults[0], "its row 'environment a' is not in order");
  };
  for (const nlohmann::json& ms : {nlohmann::json(0), nlohmann::json(-1), nlohmann::json("1"),
                                   nlohmann::json(nullptr), nlohmann::json(1e300)})
    refuses("/variants/0/median_ms", ms);
  refuses("/variants/0/spread_ms", -1);
  refuses("/variants/0/rounds", -1);
  refuses("/variants/0/rounds", 1e18);
  refuses("/variants/0/verdict", "fine");
  refuses("/variants/0/variant", 7);
  refuses("/variants/0/variant_key", "");
  refuses("/variants", nlohmann::json::array());
  refuses("/variants", nlohmann::json::array({1}));
  refuses("/environment_key", "another");
  refuses("/call", std::string(5000, 'x'));
  refuses("/at", "now");
}

TEST_F(TunedTest, OfAFileThatIsTooLargeAreNotRead) {
  test::put(file_, std::string(kMostTunedBytes + 1, ' '));
  EXPECT_FALSE(read_tuned(file_));
}

TEST_F(TunedTest, BelongToTheDevicesOfTheirEnvironment) {
  Report report;
  report.devices.resize(1);
  report.devices[0].environment_key = "environment";
  TunedCall foreign = call("b", {variant("v", 1)});
  foreign.environment_key = "another";
  add_tuned({call("a", {variant("v", 1)}), foreign}, report);
  ASSERT_THAT(report.tuned, SizeIs(1));
  EXPECT_EQ(report.tuned[0].call, "a");
}

}  // namespace
}  // namespace clvet
