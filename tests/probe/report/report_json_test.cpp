#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "tests/probe/samples.h"

namespace clvet {
namespace {

using Json = nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Every fault must come as one printable line that names the source and the next step.
void expect_refused(const std::string& text, const std::string& what) {
  const auto report = report_from_json(text, "board.json");
  ASSERT_FALSE(report) << what;
  EXPECT_EQ(report.error().code, ErrorCode::kInvalidArgument) << what;
  const std::string& message = report.error().message;
  EXPECT_THAT(message, HasSubstr("board.json")) << what;
  EXPECT_THAT(message, HasSubstr("clvet probe")) << what;
  EXPECT_LT(message.size(), 600u) << what;
  for (const char c : message)
    EXPECT_GE(static_cast<unsigned char>(c), 0x20) << what << ": " << message;
}

TEST(ReportJson, ComesBackAsItWasWritten) {
  const std::string text = report_to_json(test::sample_report());
  const auto report = report_from_json(text, "board.json");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report_to_json(*report), text);
  EXPECT_EQ(report->verdicts[0].evidence.stderr_text, test::sample_verdict().evidence.stderr_text);
  EXPECT_EQ(report->verdicts[0].evidence.exit_status, 0);
  EXPECT_EQ(report->verdicts[1].evidence.exit_status, std::nullopt);
  EXPECT_EQ(report->devices[0].properties.at("CL_DEVICE_PROFILING_TIMER_RESOLUTION").error, -30);
  EXPECT_EQ(report->devices[0].combinations[1].combination.memory, std::nullopt);
  EXPECT_EQ(report->run.only_cases, std::vector<std::string>{"gemm*"});
}

TEST(ReportJson, OfAnEmptyReportComesBackToo) {
  const std::string text = report_to_json(Report{});
  const auto report = report_from_json(text, "board.json");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report_to_json(*report), text);
}

TEST(ReportJson, NamesItsSchemaAndTheWordsOfTheInterface) {
  const Json json = Json::parse(report_to_json(test::sample_report()));
  EXPECT_EQ(json.at("schema"), "clvet.report/1");
  EXPECT_EQ(json.at("verdicts").at(0).at("verdict"), "crash");
  EXPECT_EQ(json.at("verdicts").at(0).at("stage"), "build");
  EXPECT_EQ(json.at("verdicts").at(0).at("combination").at("weights"), "image");
  EXPECT_EQ(json.at("discovery").at("candidates").at(1).at("outcome"), "missing-dependency");
  EXPECT_EQ(json.at("devices")
                .at(0)
                .at("properties")
                .at("CL_DEVICE_PROFILING_TIMER_RESOLUTION")
                .at("error"),
            -30);
  EXPECT_TRUE(json.at("devices").at(0).at("combinations").at(1).at("memory").is_null());
}

TEST(ReportJson, WritesNullForWhatWasNotTimedAndNeverZero) {
  const Json json = Json::parse(report_to_json(test::sample_report()));
  const Json& peaks = json.at("devices").at(0).at("peaks");
  EXPECT_EQ(peaks.size(), 8u);
  EXPECT_EQ(peaks.at("launch_us"), 21.5);
  EXPECT_TRUE(peaks.at("map_us").is_null());
  EXPECT_EQ(json.at("verdicts").at(0).at("median_ms"), 0.5);
  EXPECT_EQ(json.at("verdicts").at(0).at("piped_ms"), 0.25);
  EXPECT_EQ(json.at("verdicts").at(0).at("launch_ms"), 0.0625);
  for (const char* name :
       {"median_ms", "spread_ms", "piped_ms", "launch_ms", "piped_launch_ms", "gflops"}) {
    EXPECT_TRUE(json.at("verdicts").at(1).at(name).is_null()) << name;
  }
  for (const VerdictReport& row : report_from_json(json.dump(), "board.json")->verdicts) {
    EXPECT_NE(row.gflops, 0);
  }
}

TEST(ReportJson, OfBeforeHasNoPeaksAndZeroForWhatWasNotTimed) {
  Json json = Json::parse(report_to_json(test::sample_report()));
  json["devices"][0].erase("peaks");
  for (const char* name : {"median_ms", "spread_ms", "gflops"}) json["verdicts"][1][name] = 0.0;
  for (Json& row : json["verdicts"]) {
    for (const char* name : {"piped_ms", "launch_ms", "piped_launch_ms"}) row.erase(name);
  }
  const auto report = report_from_json(json.dump(), "board.json");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->devices[0].peaks.launch_us, std::nullopt);
  EXPECT_EQ(report->verdicts[1].median_ms, std::nullopt);
  EXPECT_EQ(report->verdicts[1].spread_ms, std::nullopt);
  EXPECT_EQ(report->verdicts[1].gflops, std::nullopt);
  EXPECT_EQ(report->verdicts[0].median_ms, 0.5);
  EXPECT_EQ(report->verdicts[0].piped_ms, std::nullopt);
  EXPECT_EQ(report->verdicts[0].piped_launch_ms, std::nullopt);
}

TEST(ReportJson, TakesPeaksThatAreLeftOutAndRefusesThoseThatAreNoNumbers) {
  Json json = Json::parse(report_to_json(test::sample_report()));
  json["devices"][0]["peaks"] = {{"read_us", 3.5}, {"write_us", -1}, {"of_a_later_clvet", "x"}};
  const auto report = report_from_json(json.dump(), "board.json");
  ASSERT_TRUE(report) << report.error().message;
  EXPECT_EQ(report->devices[0].peaks.read_us, 3.5);
  EXPECT_EQ(report->devices[0].peaks.write_us, std::nullopt);
  EXPECT_EQ(report->devices[0].peaks.launch_us, std::nullopt);
  json["devices"][0]["peaks"] = {{"read_us", "fast"}};
  expect_refused(json.dump(), "a word for a peak");
  json["devices"][0]["peaks"] = nullptr;
  expect_refused(json.dump(), "no object of peaks");
}

TEST(ReportJson, KeepsInfinitiesOfTheErrorEvidenceReadable) {
  Report report = test::sample_report();
  report.verdicts[0].evidence.error->max_abs = std::numeric_limits<double>::infinity();
  const auto again = report_from_json(report_to_json(report), "board.json");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(std::isfinite(again->verdicts[0].evidence.error->max_abs));
}

TEST(ReportJson, IsValidJsonWhateverBytesTheDriverPrinted) {
  Report report = test::sample_report();
  report.devices[0].name = "Mali-\xFF\xC3(";
  report.verdicts[0].evidence.log = std::string("\0\x1B\xFE", 3);
  EXPECT_TRUE(report_from_json(report_to_json(report), "board.json"));
}

TEST(ReportJson, OfAStrangerGivesNoControlCharactersToATerminal) {
  Json json = Json::parse(report_to_json(test::sample_report()));
  json["devices"][0]["name"] = std::string("Mali\x1b]0;owned\x07\0\xC2\x9B 31m", 21);
  json["verdicts"][0]["evidence"]["stderr"] = "two\nlines\tstay";
  const auto report = report_from_json(json.dump(), "board.json");
  ASSERT_TRUE(report) << report.error().message;
  const std::string unknown = "\xEF\xBF\xBD";
  EXPECT_EQ(report->devices[0].name,
            "Mali" + unknown + "]0;owned" + unknown + unknown + unknown + " 31m");
  EXPECT_EQ(report->verdicts[0].evidence.stderr_text, "two\nlines\tstay");
  json["devices"][0]["capabilities"]["\x1b[31m"] = json["devices"][0]["capabilities"]["canary"];
  expect_refused(json.dump(), "an escape in a name");
}

TEST(ReportJson, CutAtAnyPlaceIsRefusedByName) {
  const std::string text = report_to_json(test::sample_report());
  const size_t end = text.find_last_of('}');
  for (size_t size = 0; size <= end; size += 1 + size % 7) {
    expect_refused(text.substr(0, size), fmt::format("{} of {} bytes", size, text.size()));
  }
}

TEST(ReportJson, OfAnotherSchemaOrKindIsRefused) {
  Json json = Json::parse(report_to_json(test::sample_report()));
  json["schema"] = "clvet.report/2";
  expect_refused(json.dump(), "a later schema");
  json["schema"] = 1;
  expect_refused(json.dump(), "a number for a schema");
  for (const char* text : {"", "null", "[]", "{}", "3", "\"clvet.report/1\"", "\xFF\xFE",
                           "PK\x03\x04", "{\"schema\":\"clvet.report/1\"}"}) {
    expect_refused(text, text);
  }
  expect_refused(std::string(200000, '['), "deeply nested");
}

// Puts `value` in the place of each field in turn, at any depth.
void try_each_field(Json& root, Json& at, const Json& value, int& refused,
                    const std::string& path) {
  for (auto& [name, field] : at.items()) {
    const std::string here = path + "/" + name;
    const Json old = field;
    field = value;
    const auto report = report_from_json(root.dump(), "board.json");
    if (!report) {
      ++refused;
      EXPECT_THAT(report.error().message, HasSubstr("board.json")) << here;
      EXPECT_THAT(report.error().message, Not(HasSubstr("\n"))) << here;
    }
    field = old;
    if (field.is_structured()) try_each_field(root, field, value, refused, here);
  }
}

TEST(ReportJson, WithAWrongTypeInAnyFieldNeverThrows) {
  Json json = Json::parse(report_to_json(test::sample_report()));
  for (const Json& value : {Json(nullptr), Json(-1), Json("\x1B[31m\nwrong"), Json::array({1}),
                            Json(true), Json{{"a", 1}}, Json(1e300)}) {
    int refused = 0;
    try_each_field(json, json, value, refused, "");
    EXPECT_GT(refused, 10) << value.dump();
  }
}

TEST(ReportJson, NamesTheFieldThatIsWrong) {
  Json json = Json::parse(report_to_json(test::sample_report()));
  json["verdicts"][0]["evidence"]["wall_ms"] = "long";
  EXPECT_THAT(report_from_json(json.dump(), "board.json").error().message,
              HasSubstr("/verdicts/0/evidence/wall_ms"));
  json = Json::parse(report_to_json(test::sample_report()));
  json["verdicts"][0]["verdict"] = "exploded";
  EXPECT_THAT(report_from_json(json.dump(), "board.json").error().message, HasSubstr("'exploded'"));
}

// Rows are read one by one: what looks like their end or start within a text is none.
TEST(ReportJson, IsReadAlikeWhateverItsTextsAndItsLayoutAre) {
  Report report = test::sample_report();
  report.verdicts[0].evidence.log = "}]}, \"verdicts\": [{\\";
  report.devices[0].name = "\"verdicts\":[]";
  const std::string text = report_to_json(report);
  for (const std::string& layout :
       {text, Json::parse(text).dump(), Json::parse(text).dump(7, '\t')}) {
    const auto again = report_from_json(layout, "board.json");
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(report_to_json(*again), text);
  }
}

TEST(ReportJson, IsRefusedWhereItsRowsAreNoList) {
  const std::string text = Json::parse(report_to_json(test::sample_report())).dump();
  const std::string name = "\"verdicts\":[";
  const size_t first = text.find(name) + name.size();
  const size_t second = text.find("},{", first) + 1;
  ASSERT_NE(second, std::string::npos + 1);
  for (const char* between : {"", ",,", ";", ",null,", ":"}) {
    std::string wrong = text;
    expect_refused(wrong.replace(second, 1, between), between);
  }
  for (const char* before : {",", "1,", "null "})
    expect_refused(std::string(text).insert(first, before), before);
  expect_refused(std::string(text).replace(first - 1, 1, ""), "no bracket");
}

TEST(VerdictJson, IsOneLineAndComesBack) {
  const VerdictReport verdict = test::sample_verdict();
  const std::string line = verdict_to_json(verdict);
  EXPECT_THAT(line, Not(HasSubstr("\n")));
  const auto again = verdict_from_json(line);
  ASSERT_TRUE(again);
  EXPECT_EQ(verdict_to_json(*again), line);
  EXPECT_FALSE(verdict_from_json(line.substr(0, line.size() / 2)));
}

template <class E, class Parse>
void expect_words(int count, Parse parse) {
  for (int i = 0; i < count; ++i) {
    const auto value = static_cast<E>(i);
    EXPECT_STRNE(to_string(value), "?") << i;
    EXPECT_EQ(parse(to_string(value)), value) << to_string(value);
  }
  EXPECT_EQ(parse("?"), std::nullopt);
  EXPECT_EQ(parse(""), std::nullopt);
}

TEST(DeviceNodes, AreTheInverseOfTheirTexts) {
  for (const DeviceNode& node : {DeviceNode{"/dev/mali0", true}, DeviceNode{"/dev/a b", false}}) {
    EXPECT_EQ(parse_device_node(to_string(node)), node);
  }
  EXPECT_EQ(to_string({"/dev/mali0", false}), "/dev/mali0 (not accessible to this user)");
  EXPECT_EQ(parse_device_node(""), (DeviceNode{"", true}));
}

TEST(ReportWords, AreTheInverseOfTheirParsers) {
  expect_words<Verdict>(17, parse_verdict);
  expect_words<Stage>(11, parse_stage);
  expect_words<CapabilityVerdict>(5, parse_capability_verdict);
  expect_words<CandidateOutcome>(12, parse_candidate_outcome);
  expect_words<CombinationStatus>(5, parse_combination_status);
}

}  // namespace
}  // namespace clvet
