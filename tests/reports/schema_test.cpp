// The documents that the program writes fit the schemas that it publishes.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "base/file.h"
#include "probe/data_files.h"
#include "probe/discover/diagnosis.h"
#include "probe/report/report_json.h"
#include "runtime/exec/run_record.h"
#include "tests/boards.h"
#include "tests/probe/samples.h"

namespace clvet {
namespace {

using Document = nlohmann::json;
using Adapter = valijson::adapters::NlohmannJsonAdapter;

// The first fault, or an empty string.
std::string fault_in(const std::string& schema_file, const Document& document) {
  const auto text = read_file(std::string(CLVET_SOURCE_DIR) + "/reports/schema/" + schema_file);
  if (!text) return text.error().message;
  const Document schema_json = Document::parse(*text);
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

TEST(Schema, HoldsForAReportWithEveryMember) {
  EXPECT_EQ(fault_in("report.schema.json", Document::parse(report_to_json(test::sample_report()))),
            "");
}

TEST(Schema, RefusesAnUnknownVerdictWord) {
  Document report = Document::parse(report_to_json(test::sample_report()));
  ASSERT_FALSE(report.at("verdicts").empty());
  report["verdicts"][0]["verdict"] = "fine";
  EXPECT_NE(fault_in("report.schema.json", report), "");
}

TEST(Schema, RefusesAReportWithoutDevices) {
  Document report = Document::parse(report_to_json(test::sample_report()));
  report.erase("devices");
  EXPECT_NE(fault_in("report.schema.json", report), "");
}

TEST(Schema, HoldsForARunRecord) {
  RunRecord record;
  record.model = "model.onnx";
  record.device = "host";
  record.combination = {Precision::kHigh, std::nullopt, Storage::kBuffer, std::nullopt};
  record.nodes = {{"a", "Conv", "opencl", "gemm_tile4x4/high", "key", "", 1.5},
                  {"b", "Size", "host", "", "", "host only", 0}};
  record.fallbacks = {{"a", "x", "host", "crash"}};
  record.outputs = {{"y", "f32", {1, 2}, "out/y.npy"}, {"z", "i64", {}, ""}};
  record.texts = {{"Board 4711", 0.98}};
  EXPECT_EQ(fault_in("run.schema.json", Document::parse(run_record_to_json(record))), "");
}

TEST(Schema, HoldsForEveryKnownIssue) {
  const auto files = data_files("", "advice/known_issues");
  ASSERT_TRUE(files);
  EXPECT_EQ(files->size(), 133u);
  for (const DataFile& file : *files)
    EXPECT_EQ(fault_in("known_issue.schema.json", Document::parse(file.text)), "") << file.name;
}

TEST(Schema, RefusesAKnownIssueWhoseNamePatternIsNotAnchored) {
  Document issue = Document::parse(data_files("", "advice/known_issues")->front().text);
  issue["identity"] = {{{"stack", {"mali"}}, {"name", {"Mali"}}}};
  EXPECT_NE(fault_in("known_issue.schema.json", issue), "");
}

TEST(Schema, HoldsForEveryFailureClass) {
  const auto files = data_files("", "advice/rules");
  ASSERT_TRUE(files);
  EXPECT_GE(files->size(), 29u);
  for (const DataFile& file : *files) {
    const Document rule = Document::parse(file.text);
    EXPECT_EQ(fault_in("failure_class.schema.json", rule), "") << file.name;
    EXPECT_EQ("advice/rules/" + rule.at("class").get<std::string>() + ".json", file.name);
  }
}

TEST(Schema, HoldsForADiscovery) {
  for (const char* name : {"rk3399", "icd_rejected", "namespace_denied", "no_library"}) {
    const test::TempDir dir;
    test::build_tree(test::board(name).at("tree"), dir.path());
    DiagnosisOptions options;
    options.root = dir.path();
    options.as = "paddle-lite";
    const auto found = diagnose(options);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(fault_in("discover.schema.json", Document::parse(diagnosis_to_json(*found))), "")
        << name;
  }
}

}  // namespace
}  // namespace clvet
