// What a run leaves behind as JSON, and the fields that are null where there is nothing to say.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "kernels/combination.h"
#include "runtime/plan/plan.h"
#include "runtime/run/answer.h"
#include "runtime/run/generate_record.h"
#include "runtime/run/language_session.h"
#include "runtime/run/measured_times.h"
#include "runtime/run/run_record.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr Combination kHalves = {Precision::kNormal, Memory::kLow, Storage::kBuffer,
                                 Storage::kImage};

// Without the line breaks and the spaces between them.
std::string flat(std::string_view json) {
  std::string out;
  bool text = false;
  for (size_t i = 0; i < json.size(); ++i) {
    if (json[i] == '"' && json[i - 1] != '\\') text = !text;
    if (text || (json[i] != ' ' && json[i] != '\n')) out += json[i];
  }
  return out;
}

TEST(RunRecord, SaysNothingInsteadOfEmptyWords) {
  RunRecord record;
  record.model = "m.onnx";
  record.device = "host";
  record.nodes = {{"n", "Relu", Place::kHost, "", "", "no kernel"}};
  record.outputs = {{"y", "f32", {2, 0}, ""}};
  const std::string json = run_record_to_json(record);
  EXPECT_THAT(json, EndsWith("}\n"));
  EXPECT_THAT(
      flat(json),
      AllOf(HasSubstr(R"({"schema":"clvet.run/1","model":"m.onnx","device":"host")"),
            HasSubstr(R"({"name":"n","op":"Relu","where":"host","variant_key":null,"kernel":null,)"
                      R"("reason":"no kernel","ms":null,"predicted_ms":null})"),
            HasSubstr(R"("outputs":[{"name":"y","dtype":"f32","shape":[2,0],"file":null}])"),
            HasSubstr(R"("fallbacks":[],"warnings":[])"), Not(HasSubstr("choice")),
            Not(HasSubstr("texts"))));
}

TEST(RunRecord, TellsAllThatItKnows) {
  RunRecord record;
  record.combination = kHalves;
  record.nodes = {{"n", "Conv", Place::kDevice, "conv2d", "abc", "", 1.5, 2.5}};
  record.fallbacks = {{"n", "a", "b", "wrong"}};
  record.warnings = {"one", "two"};
  record.load_ms = 1;
  record.median_ms = 0.25;
  record.choice = MeasuredTimes{4, 3};
  record.outputs = {{"y", "f32", {}, "y.npy"}};
  record.texts = {{"word", 0.5}, {"", 0}};
  EXPECT_THAT(
      flat(run_record_to_json(record)),
      AllOf(HasSubstr(R"("variant_key":"abc","kernel":"conv2d","ms":1.5,"predicted_ms":2.5})"),
            HasSubstr(R"("fallbacks":[{"node":"n","from":"a","to":"b","verdict":"wrong"}])"),
            HasSubstr(R"("warnings":["one","two"])"),
            HasSubstr(R"("timing":{"load_ms":1.0,"plan_ms":0.0,"build_ms":0.0,"first_ms":0.0,)"
                      R"("min_ms":null,"median_ms":0.25})"),
            HasSubstr(R"("choice":{"device_ms":4.0,"host_ms":3.0})"),
            HasSubstr(R"("shape":[],"file":"y.npy")"),
            HasSubstr(R"("texts":[{"text":"word","score":0.5},{"text":"","score":0.0}])")));
}

// Names come from models and drivers: bytes that are no UTF-8, quotes, control characters.
TEST(RunRecord, IsValidWhateverNamesSay) {
  RunRecord record;
  record.model = "a\xff\"b\\\n";
  record.warnings = {"\xed\xa0\x80"};
  record.nodes = {{"\x01", "op", Place::kHost, "", "", ""}};
  record.nodes[0].ms = NAN;
  record.min_ms = INFINITY;
  const std::string json = run_record_to_json(record);
  EXPECT_THAT(json, AllOf(HasSubstr("a\xEF\xBF\xBD\\\"b\\\\\\n"), HasSubstr("\\u0001"),
                          HasSubstr("\"ms\": null"), HasSubstr("\"min_ms\": null"),
                          Not(HasSubstr("\xff")), Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
}

TEST(GenerateRecord, TellsTokensTimesAndWhatWasAvoided) {
  LanguageRecord record;
  record.device = "Board";
  record.combination = kHalves;
  record.avoided = {{kHalves, "wrong here", false, 0, 0}};
  record.warnings = {"slow"};
  record.nodes.resize(2);
  record.device_bytes = int64_t{1} << 40;
  Answer answer{.prompt = {1, 2}, .tokens = {3}, .text = "a\xC3\xA9\xff", .interrupted = true};
  answer.prompt_ms = 2;
  answer.device_ms = 0.5;
  const std::string json = flat(generate_record_to_json("m.gguf", record, answer));
  EXPECT_THAT(
      json,
      AllOf(HasSubstr(R"({"schema":"clvet.generate/1","model":"m.gguf")"),
            HasSubstr(R"("device":"Board")"), HasSubstr(R"("reason":"wrong here")"),
            HasSubstr(R"("launches_a_token":2)"), HasSubstr(R"("device_bytes":1099511627776)"),
            HasSubstr(R"("device_ms_a_token":0.5)"), HasSubstr(R"("prompt_ids":[1,2],"ids":[3])"),
            HasSubstr("\"text\":\"a\xC3\xA9\xEF\xBF\xBD\",\"interrupted\":true")));
}

TEST(GenerateRecord, HasNoDeviceTimeOnTheHost) {
  LanguageRecord record;
  record.device = "host";
  EXPECT_THAT(flat(generate_record_to_json("m", record, {})),
              AllOf(HasSubstr(R"("device_ms_a_token":null)"), HasSubstr(R"("avoided":[])"),
                    HasSubstr(R"("prompt_ids":[],"ids":[],"text":"","interrupted":false)")));
}

}  // namespace
}  // namespace clvet
