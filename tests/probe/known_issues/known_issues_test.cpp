#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "probe/data/data_files.h"
#include "probe/diagnose/advice.h"
#include "probe/known_issues/identity.h"
#include "probe/known_issues/known_issues.h"
#include "probe/report/report.h"
#include "tests/probe/samples.h"
#include "tests/support.h"

namespace clvet {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::MatchesRegex;

DeviceFacts facts_from(const json& row) {
  DeviceFacts facts{row.value("platform", ""), row.value("name", ""),    row.value("vendor", ""),
                    row.value("driver", ""),   row.value("version", ""), row.value("type", "")};
  facts.vendor_id = row.value("vendor_id", 0u);
  facts.extensions = row.value("extensions", std::vector<std::string>());
  facts.board = row.value("board", "");
  facts.soc = row.value("soc", "");
  facts.os = row.value("os", "");
  facts.kernel = row.value("kernel", "");
  return facts;
}

std::vector<DataFile> files() {
  const auto found = data_files("", "advice/known_issues");
  EXPECT_TRUE(found) << found.error().message;
  return found.value_or(std::vector<DataFile>());
}

std::vector<KnownIssue> all_issues() { return known_issues("").value(); }

KnownIssue issue(const std::string& id) {
  for (const KnownIssue& row : all_issues())
    if (row.id == id) return row;
  ADD_FAILURE() << id;
  return {};
}

TEST(KnownIssues, AreAllBuiltIn) { EXPECT_GE(all_issues().size(), 133u); }

TEST(KnownIssues, EachHasItsFilesNameWhichSaysDriverAndSymptom) {
  for (const KnownIssue& row : all_issues()) {
    EXPECT_THAT(row.id, MatchesRegex("^[a-z0-9]+(-[a-z0-9.]+){2,7}$"));
    EXPECT_LE(row.id.size(), 48u) << row.id;
  }
  for (const DataFile& file : files())
    EXPECT_EQ("advice/known_issues/" + parse_known_issue(file)->id + ".json", file.name);
}

TEST(KnownIssues, EachFitsItsOwnExampleAndNotTheOther) {
  for (const DataFile& file : files()) {
    const auto parsed = parse_known_issue(file);
    ASSERT_TRUE(parsed) << parsed.error().message;
    const json examples = json::parse(file.text).at("examples");
    EXPECT_TRUE(match_issue(*parsed, facts_from(examples.at("match")))) << parsed->id;
    EXPECT_FALSE(match_issue(*parsed, facts_from(examples.at("no_match")))) << parsed->id;
  }
}

TEST(KnownIssues, EachHasASourceAndACheckThatCanTell) {
  const std::set<std::string> ops = {"*", "concat", "gemm", "layer_norm", "move"};
  const std::set<std::string> capabilities = {"map_read", "host_pointer"};
  for (const KnownIssue& row : all_issues()) {
    EXPECT_FALSE(row.sources.empty()) << row.id;
    if (row.check && row.check->capability.empty()) {
      EXPECT_TRUE(ops.count(row.check->trial)) << row.id;
    }
    if (row.check && !row.check->capability.empty()) {
      EXPECT_TRUE(capabilities.count(row.check->capability)) << row.id;
    }
  }
}

TEST(KnownIssues, ConcernNobodyWithoutAName) {
  for (const KnownIssue& row : all_issues()) {
    EXPECT_FALSE(match_issue(row, {})) << row.id;
    DeviceFacts longest;
    longest.name = longest.version = longest.platform = std::string(1 << 20, 'M');
    EXPECT_FALSE(match_issue(row, longest)) << row.id;
  }
}

TEST(KnownIssues, SayWhyTheyConcernADevice) {
  DeviceFacts facts{"ARM Platform", "Mali-G76", "ARM", "2.0", "OpenCL 2.0 v1.r26p0-01rel0.0",
                    "gpu"};
  EXPECT_EQ(match_issue(issue("mali-bifrost-relaxed-math-inaccurate"), facts),
            "driver mali, generation bifrost, version >=r23p0, version <=r38p0");
  facts.version = "OpenCL 2.0 v1.r39p0-01rel0.0";
  EXPECT_FALSE(match_issue(issue("mali-bifrost-relaxed-math-inaccurate"), facts));
  facts.version = "OpenCL 2.0 v1.g26p0-01rel0.0";
  EXPECT_FALSE(match_issue(issue("mali-bifrost-relaxed-math-inaccurate"), facts))
      << "the g series is not the r series";
}

VerdictReport verdict(Verdict what, std::vector<std::string> constructs) {
  VerdictReport row = test::sample_verdict(what);
  row.constructs = std::move(constructs);
  return row;
}

TEST(KnownIssue, IsCancelledByTrialsThatPass) {
  const DeviceReport device = test::sample_device();
  const auto seen = [&](const std::vector<VerdictReport>& verdicts) {
    return observe_issue(issue("mali-half-dequantise-build-abort"), device, verdicts).observation;
  };
  const std::vector<std::string> both = {"half_arith", "half_type", "int_to_half"};
  EXPECT_EQ(seen({}), Observation::kUntested);
  EXPECT_EQ(seen({verdict(Verdict::kPass, {"half_arith"})}), Observation::kUntested);
  EXPECT_EQ(seen({verdict(Verdict::kUnsupported, both)}), Observation::kUntested);
  EXPECT_EQ(seen({verdict(Verdict::kMissing, both)}), Observation::kUntested);
  EXPECT_EQ(seen({verdict(Verdict::kPass, both)}), Observation::kNotObserved);
  EXPECT_EQ(seen({verdict(Verdict::kPass, both), verdict(Verdict::kCrash, both)}),
            Observation::kObserved);
  VerdictReport other = verdict(Verdict::kCrash, both);
  other.device = "d1";
  EXPECT_EQ(seen({other}), Observation::kUntested) << "another device's";
}

TEST(KnownIssue, IsCancelledByACapabilityThatHolds) {
  DeviceReport device = test::sample_device();
  const auto seen = [&] {
    return observe_issue(issue("mali-g71-host-pointer-map-fails"), device, {}).observation;
  };
  device.capabilities["host_pointer"].verdict = CapabilityVerdict::kWrong;
  EXPECT_EQ(seen(), Observation::kObserved);
  device.capabilities["host_pointer"].verdict = CapabilityVerdict::kTrue;
  EXPECT_EQ(seen(), Observation::kNotObserved);
  device.capabilities.clear();
  EXPECT_EQ(seen(), Observation::kUntested);
}

std::map<std::string, AdviceReport> by_id(const std::vector<AdviceReport>& rows, const char* lang) {
  std::map<std::string, AdviceReport> found;
  for (const AdviceReport& row : rows)
    if (row.lang == lang) found[row.id] = row;
  return found;
}

TEST(KnownIssueAdvice, ComesInTwoLanguagesWithItsEvidence) {
  Report report = test::sample_report();
  report.verdicts.clear();
  const auto rows = advise(report, advice_data("").value());
  const auto english = by_id(rows, "en"), chinese = by_id(rows, "zh");
  ASSERT_TRUE(english.count("known-mali-g78-instruction-selection-abort-d0"));
  ASSERT_TRUE(chinese.count("known-mali-g78-instruction-selection-abort-d0"));
  EXPECT_THAT(
      english.at("known-mali-g78-instruction-selection-abort-d0").evidence,
      Contains(
          "known issue mali-g78-instruction-selection-abort (grade B): driver mali, model G78"));
  EXPECT_THAT(english.at("known-mali-g78-instruction-selection-abort-d0").evidence,
              Contains(HasSubstr("/issues/3571")));
  EXPECT_THAT(english.at("known-mali-g78-instruction-selection-abort-d0").fixes,
              testing::SizeIs(1));
  EXPECT_FALSE(english.count("known-mali-t6xx-profiling-finish-hang-d0")) << "a T628's";
  EXPECT_FALSE(english.count("known-any-fp16-listed-half-load-refused-d0"))
      << "any driver's, told only where it is seen";
}

TEST(KnownIssueAdvice, SaysNotObservedHereWhereTheCheckPassed) {
  Report report = test::sample_report();
  report.verdicts = {verdict(Verdict::kPass, {"half_arith", "int_to_half"})};
  const auto row = by_id(advise(report, advice_data("").value()), "en")
                       .at("known-mali-g78-instruction-selection-abort-d0");
  EXPECT_THAT(row.cause, HasSubstr("not observed here"));
  EXPECT_THAT(row.fixes, IsEmpty());
}

TEST(AdviceData, IsReplacedByAFoldersFiles) {
  const test::TempDir dir;
  std::filesystem::create_directories(dir / "advice/known_issues");
  EXPECT_THAT(known_issues(dir.path()).value(), IsEmpty());
  json row = json::parse(files().front().text);
  row["id"] = "mali-new-issue";
  test::put(dir / "advice/known_issues/mali-new-issue.json", row.dump());
  const auto issues = known_issues(dir.path());
  ASSERT_EQ(issues->size(), 1u);
  EXPECT_EQ(issues->front().id, "mali-new-issue");
}

TEST(AdviceData, NamesTheFileAndTheFault) {
  const test::TempDir dir;
  EXPECT_THAT(known_issues("/nonexistent").error().message, HasSubstr("--data-dir /nonexistent"));
  std::filesystem::create_directories(dir / "advice/known_issues");
  const std::string file = dir / "advice/known_issues/bad.json";
  const json good = json::parse(files().front().text);
  const auto refused = [&](const std::string& text) {
    test::put(file, text);
    const auto issues = known_issues(dir.path());
    EXPECT_FALSE(issues) << text;
    return issues ? std::string() : issues.error().message;
  };
  EXPECT_THAT(refused("{"), HasSubstr(file));
  EXPECT_THAT(refused("[]"), HasSubstr(file));
  json bad = good;
  bad["identity"] = {{{"stack", {"mali"}}, {"name", {"Mali"}}}};
  EXPECT_THAT(refused(bad.dump()), HasSubstr("must begin with ^"));
  bad["identity"] = {{{"stack", {"mali"}}, {"version", {"r5p0"}}}};
  EXPECT_THAT(refused(bad.dump()), HasSubstr("not a version bound"));
  bad["identity"] = {{{"stack", {"mali"}}, {"colour", {"red"}}}};
  EXPECT_THAT(refused(bad.dump()), HasSubstr("unknown member"));
  bad["identity"] = {{{"stack", {"mali"}}, {"name", {"^(((($"}}}};
  EXPECT_THAT(refused(bad.dump()), HasSubstr(file));
}

}  // namespace
}  // namespace clvet
