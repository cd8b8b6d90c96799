// The documents that the program writes fit the schemas that it publishes.
#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/json.h"
#include "base/result.h"
#include "kernels/combination.h"
#include "probe/data/data_files.h"
#include "probe/diagnose/diagnosis.h"
#include "probe/report/report.h"
#include "probe/report/report_json.h"
#include "probe/report/tuned.h"
#include "reports/schema/schemas.h"
#include "runtime/check/check.h"
#include "runtime/check/check_record.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/plan_json.h"
#include "runtime/plan/planner.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/float_fault.h"
#include "runtime/precision/normalise.h"
#include "runtime/run/answer.h"
#include "runtime/run/bench_record.h"
#include "runtime/run/generate_record.h"
#include "runtime/run/language_session.h"
#include "runtime/run/run_record.h"
#include "runtime/run/tune_record.h"
#include "tests/boards.h"
#include "tests/probe/samples.h"
#include "tests/runtime/llm/model_files.h"
#include "tests/runtime/plan/planning.h"
#include "tests/runtime/precision/planted_networks.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet {
namespace {

using Document = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

// Calls `see` with each schema within `schema` that names members.
void each_object(Document& schema, const std::function<void(Document&)>& see) {
  if (schema.is_array()) {
    for (Document& part : schema) each_object(part, see);
  }
  if (!schema.is_object()) return;
  if (schema.contains("properties")) see(schema);
  for (const auto& [key, part] : schema.items()) {
    if (key == "properties" || key == "definitions") {
      for (Document& member : part) each_object(member, see);
    } else if (key != "enum" && key != "const") {
      each_object(part, see);
    }
  }
}

// As the program has it, and strict: a member that it does not name is a fault.
Document strict_schema(const std::string& name) {
  const auto file = schema_file(name);
  EXPECT_TRUE(file) << name;
  Document schema = Document::parse(file ? file->text : "{}");
  each_object(schema, [](Document& object) {
    if (!object.contains("additionalProperties")) object["additionalProperties"] = false;
  });
  return schema;
}

// The first fault, or an empty string.
std::string fault_in(const std::string& name, const Document& document) {
  const Document schema_json = strict_schema(name);
  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(Adapter(schema_json), schema);
  valijson::Validator validator;
  valijson::ValidationResults results;
  if (validator.validate(schema, Adapter(document), &results)) return {};
  valijson::ValidationResults::Error error;
  results.popError(error);
  std::string where;
  for (const std::string& part : error.context) where += part;
  return where + ": " + error.description;
}

TEST(Schema, IsInTheProgramForEachFileAsItIs) {
  std::set<std::string> names;
  for (const SchemaFile& file : schema_files()) {
    names.insert(file.name);
    EXPECT_EQ(file.text, test::get(std::string(CLVET_SOURCE_DIR) + "/reports/schema/" + file.name +
                                   ".schema.json"));
  }
  for (const char* name : {"bench", "check", "diagnosis", "discover", "failure_class", "generate",
                           "known_issue", "plan", "report", "run"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Schema, HasAnIdOfItsOwnAndDescribesEachMember) {
  std::set<std::string> ids;
  for (const SchemaFile& file : schema_files()) {
    Document schema = Document::parse(file.text);
    EXPECT_EQ(schema.at("$id"), "urn:clvet:schema:" + file.name + "/1");
    EXPECT_TRUE(ids.insert(schema.at("$id")).second);
    size_t members = 0;
    each_object(schema, [&](const Document& object) {
      for (const auto& [name, member] : object.at("properties").items()) {
        ++members;
        // A member that a case of several may not have.
        if (member == false) continue;
        ASSERT_TRUE(member.is_object()) << file.name << ": " << name;
        EXPECT_GT(member.value("description", "").size(), 2u) << file.name << ": " << name;
      }
    });
    EXPECT_GT(members, 10u) << file.name;
  }
}

TEST(Schema, ThatDoesNotExistIsNamedWithThoseThatDo) {
  const auto file = schema_file("runn");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(file.error().message, testing::HasSubstr("no schema 'runn'; there are bench, "));
}

TEST(Schema, AllowsNullForTimesThatWereNotTaken) {
  RunRecord record;
  record.device = "host";
  record.combination = {Precision::kHigh, std::nullopt, Storage::kBuffer, std::nullopt};
  record.nodes = {{"b", "Size", Place::kHost, "", "", "host only", 0}};
  const Document json = Document::parse(run_record_to_json(record));
  EXPECT_TRUE(json.at("timing").at("median_ms").is_null());
  EXPECT_TRUE(json.at("nodes").at(0).at("ms").is_null());
  EXPECT_EQ(fault_in("run", json), "");
}

TEST(Schema, HoldsForAReportWithEveryMember) {
  EXPECT_EQ(fault_in("report", Document::parse(report_to_json(test::sample_report()))), "");
}

TEST(Schema, RefusesAnUnknownVerdictWord) {
  Document report = Document::parse(report_to_json(test::sample_report()));
  ASSERT_FALSE(report.at("verdicts").empty());
  report["verdicts"][0]["verdict"] = "fine";
  EXPECT_NE(fault_in("report", report), "");
}

TEST(Schema, RefusesAReportWithoutDevices) {
  Document report = Document::parse(report_to_json(test::sample_report()));
  report.erase("devices");
  EXPECT_NE(fault_in("report", report), "");
}

TEST(Schema, HoldsForARunRecord) {
  RunRecord record;
  record.model = "model.onnx";
  record.device = "host";
  record.combination = {Precision::kHigh, std::nullopt, Storage::kBuffer, std::nullopt};
  record.nodes = {{"a", "Conv", Place::kDevice, "gemm_tile4x4/high", "key", "", 1.5},
                  {"b", "Size", Place::kHost, "", "", "host only", 0}};
  record.fallbacks = {{"a", "x", "host", "crash"}};
  record.outputs = {{"y", "f32", {1, 2}, "out/y.npy"}, {"z", "i64", {}, ""}};
  record.texts = {{"Board 4711", 0.98}};
  EXPECT_EQ(fault_in("run", Document::parse(run_record_to_json(record))), "");
}

TEST(Schema, HoldsForABench) {
  BenchRecord record;
  record.format = "gguf";
  record.device = "Board";
  record.combination = {Precision::kLow, Memory::kLow, Storage::kBuffer, Storage::kImage};
  record.threads = record.repeat = 1;
  record.inputs = {{"x", {DType::kF32, {1, 2}}}};
  record.measurements = {{"run", 0, {1, 2}}, {"prompt", 5, {3}}, {"token", 1, {}}};
  record.warnings = {"a warning"};
  for (const bool random : {false, true}) {
    record.random = random;
    EXPECT_EQ(fault_in("bench", Document::parse(bench_record_to_json(record))), "");
  }
}

TEST(Schema, HoldsForATuningAndForWhatItKeeps) {
  TunedRow row;
  row.call = {"environment", "gemm high/buffer/float K=1", "Board", "2026-02-02", {}};
  row.call.variants = {{"a", "key a", Verdict::kPass, 2, 0.1, 9, true},
                       {"b", "key b", Verdict::kPass, 1, 0, 9, true},
                       {"c", "key c", Verdict::kWrong, 0, 0, 0, true}};
  row.notes = {"", "", "it is wrong"};
  row.behind = {false, false, false};
  TuneRecord record{.model = "m.onnx", .device = "Board", .file = "tuned.json"};
  EXPECT_EQ(fault_in("tune", Document::parse(tune_record_to_json(record))), "");
  record.tuned = {row};
  const Document document = Document::parse(tune_record_to_json(record));
  EXPECT_EQ(fault_in("tune", document), "");
  EXPECT_EQ(document["tuned"][0]["tuned"], "b");
  EXPECT_EQ(fault_in("tuned", Document::parse(tuned_to_json({row.call}))), "");
}

TEST(Schema, HoldsForPlansOfANetwork) {
  const auto chooser = test::chooser_that(test::all_pass);
  for (const Combination& words : {test::kBuffers, test::kImages}) {
    auto plan = plan_network_for(test::mixed_network(), *chooser, words);
    ASSERT_TRUE(plan) << plan.error().message;
    const std::string hash(64, 'a');
    plan->subject = {"onnx", hash, {{"x", {1, 3}}}, {{"s", hash}}, "Board", "key", hash};
    plan->fallbacks = {{"a", "one", "other", "crash"}};
    plan->refused = {{words, "slower", true, 3, 5}, {words, "no half", false, 0, 0, true}};
    plan->raised = RaisedEvidence{{"a"}, 0.05, 2, 5, 1.5, 2.5, 4};
    EXPECT_EQ(fault_in("plan", Document::parse(plan_to_json(*plan))), "");
  }
}

TEST(Schema, HoldsForADiagnosis) {
  for (const test::Planted planted : {test::Planted::kNone, test::Planted::kOverflow}) {
    const auto network = test::planted_network(planted, 1);
    auto found =
        diagnose_network(network.graph, {{"one", network.inputs}}, {.policy = Policy::kNaive});
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(found->plan.has_value(), planted != test::Planted::kNone);
    found->contrasts = {{"x", found->nodes[0].range, found->nodes[0].range, 2, 1}};
    found->float_fault = FloatFault{"n", "Mul", true, false, INFINITY, {0}};
    found->normalising = NormaliseTrials{{"x"}, {{NormaliseHow::kDivide, 255, true}}, 1};
    found->failing = FailingFiles{"p/failing.onnx", 1, {{"x", "x.npy"}}, {{"y", "y.npy"}}, "run"};
    EXPECT_EQ(fault_in("diagnosis", Document::parse(diagnosis_to_json(*found))), "");
  }
}

TEST(Schema, HoldsForADiagnosisOfALanguageModel) {
  const PrecisionDiagnosis found = [] {
    PrecisionDiagnosis made;
    DiagnosedInput input{"a", false, {DiagnosedOutput{"logits"}}};
    input.outputs[0].choices = TokenChoices{3, 4};
    made.inputs.push_back(input);
    made.plan = PrecisionPlan{{"0.attn_norm"}};
    made.plan->after.push_back(input);
    made.plan->rescale = ExactRescale{"hidden", 0.125, true, true};
    return made;
  }();
  const Document json = Document::parse(diagnosis_to_json(found));
  EXPECT_EQ(fault_in("diagnosis", json), "");
  EXPECT_EQ(json.at("plan").at("rescale").at("factor"), 0.125);
  EXPECT_EQ(json.at("inputs").at(0).at("outputs").at(0).at("choices").at("of"), 4);
}

TEST(Schema, HoldsForEveryKnownIssue) {
  const auto files = data_files("", "advice/known_issues");
  ASSERT_TRUE(files);
  EXPECT_GE(files->size(), 133u);
  for (const DataFile& file : *files)
    EXPECT_EQ(fault_in("known_issue", Document::parse(file.text)), "") << file.name;
}

TEST(Schema, RefusesAKnownIssueWhoseNamePatternIsNotAnchored) {
  Document issue = Document::parse(data_files("", "advice/known_issues")->front().text);
  issue["identity"] = {{{"stack", {"mali"}}, {"name", {"Mali"}}}};
  EXPECT_NE(fault_in("known_issue", issue), "");
}

TEST(Schema, HoldsForEveryFailureClass) {
  const auto files = data_files("", "advice/rules");
  ASSERT_TRUE(files);
  EXPECT_GE(files->size(), 29u);
  for (const DataFile& file : *files) {
    const Document rule = Document::parse(file.text);
    EXPECT_EQ(fault_in("failure_class", rule), "") << file.name;
    EXPECT_EQ("advice/rules/" + rule.at("class").get<std::string>() + ".json", file.name);
  }
}

TEST(Schema, HoldsForADiscovery) {
  for (const char* name : {"rk3399", "icd_rejected", "namespace_denied", "no_library"}) {
    const test::TempDir dir;
    test::build_board(test::board(name).at("tree"), dir.path());
    DiagnosisOptions options;
    options.root = dir.path();
    options.as = "paddle-lite";
    const auto found = diagnose(options);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(fault_in("discover", Document::parse(diagnosis_to_json(*found))), "") << name;
  }
}

TEST(Schema, HoldsForWhatALanguageModelSaid) {
  LanguageRecord record;
  const Combination words{Precision::kLow, Memory::kLow, Storage::kBuffer, Storage::kBuffer};
  record.device = "Board";
  record.combination = words;
  record.avoided = {{words, "gemv is crash", 1}};
  record.warnings = {"a warning"};
  const Answer said{{1, 2}, {3}, "text", true, 1.5, 2.5, 0.5};
  const Document json = Document::parse(generate_record_to_json("model.gguf", record, said));
  EXPECT_EQ(fault_in("generate", json), "");
  for (const auto& [key, value] : json.items()) {
    Document less = json;
    less.erase(key);
    EXPECT_NE(fault_in("generate", less), "") << key;
  }
}

TEST(Schema, HoldsForACheckOfALanguageModel) {
  CheckRecord record;
  record.model = "model.gguf";
  record.format = "gguf";
  record.findings = {"a finding"};
  record.llm.emplace();
  EXPECT_EQ(fault_in("check", Document::parse(check_record_to_json(record))), "");
  LlmCheck& llm = *record.llm;
  llm.config.architecture = "llama";
  llm.tokenizer = TokenizerCheck{"gpt2", "", 10, 2, 1, false, "none"};
  llm.types = {{"Q6_K", 1, 256, 210, true, {{"int8", 1}}, "do"}};
  DeviceCheck& device = record.devices.emplace_back();
  const Combination words{Precision::kHigh, Memory::kLow, Storage::kBuffer, Storage::kImage};
  device.combination = words;
  device.advice = {"an advice"};
  device.combinations = {
      {words, true, "", {{"Q6_K", true, ""}}, MemoryCheck{1, 2, "head", 1, {{256, 9, true}}}, {}},
      {words, false, "why", {{"Q6_K", false, "why"}}, std::nullopt, {{"head", "why"}}}};
  EXPECT_EQ(fault_in("check", Document::parse(check_record_to_json(record))), "");
}

TEST(Schema, HoldsForChecksOfLanguageModelsAgainstDevicesAndWithout) {
  const test::TempDir folder;
  const Report right = test::report_of(test::device_with());
  const Report small = test::report_of(test::device_with(test::Limits{"1000", "1000", "16"}));
  auto unknown_type = test::tiny_model("llama");
  unknown_type.tensors[0].type = 77;
  for (const auto& builder :
       {test::tiny_model("gemma3"), test::tiny_model("phi3"), std::as_const(unknown_type)}) {
    test::put(folder / "m.gguf", builder.bytes());
    for (const Report* report : {&right, &small, static_cast<const Report*>(nullptr)}) {
      const auto record = check_gguf(folder / "m.gguf", report);
      ASSERT_TRUE(record) << record.error().message;
      const auto json = Document::parse(check_record_to_json(*record));
      EXPECT_EQ(fault_in("check", json), "");
    }
  }
}

TEST(Schema, HoldsForACheckOfANetwork) {
  CheckRecord record;
  record.model = "model.onnx";
  record.format = "onnx";
  record.notes = {"a note"};
  record.devices.emplace_back().nodes = {{"a", "Conv", Where::kOpenCl, "conv2d_tile4x4/high", ""},
                                         {"b", "Odd", Where::kNeither, "", "why"}};
  record.devices.emplace_back().combination =
      Combination{Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
  EXPECT_EQ(fault_in("check", Document::parse(check_record_to_json(record))), "");
}

}  // namespace
}  // namespace clvet
