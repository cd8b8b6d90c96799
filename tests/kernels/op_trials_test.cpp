#include "kernels/op_trials.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/contract.h"
#include "tests/json_fields.h"

namespace clvet {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kOpPath = "reference/gemv.json";
constexpr const char* kOp = R"json({
    "timed": ["a", "c"],
    "domains": [{"tensor": "x", "where": "act == 3", "low": 0.5, "high": 2, "edges": false},
                {"where": "act == 3", "largest_half": true}],
    "tests": [{"name": "a", "dims": {"N": 4, "K": 8, "act": 0}, "scalars": {"act_lo": 0.5}},
              {"name": "b", "dims": {"N": 4, "K": 9, "act": 0}},
              {"name": "c", "dims": {"N": 4, "K": 12, "act": 3}}]
  })json";

constexpr const char* kPath = "ops/gemv/gemv_sample.json";
constexpr const char* kSample = R"json({
    "op": "gemv", "precisions": ["high"], "activations": ["buffer"],
    "args": ["in:x", "out:y", "int:K"], "global": ["N"]
  })json";

Result<Catalog> parse(const std::string& manifest, const std::string& op = kOp) {
  return Catalog::parse({{kPath, manifest}, {kOpPath, op}});
}

std::vector<std::string> names_of(const std::vector<TestShape>& tests) {
  std::vector<std::string> names;
  for (const TestShape& test : tests) names.push_back(test.name);
  return names;
}

// The tests of the sample with one of its fields as given, or the error.
std::vector<std::string> tests_with(const char* field, const char* value) {
  const auto catalog = parse(test::with_field(kSample, field, value));
  if (!catalog) return {catalog.error().message};
  return names_of(catalog->manifests().front().tests);
}

TEST(TestsOfAnOp, AreTriedOnEachVariantThatTakesThem) {
  const auto catalog = parse(kSample);
  ASSERT_TRUE(catalog) << catalog.error().message;
  const Manifest& manifest = catalog->manifests().front();
  EXPECT_THAT(names_of(manifest.tests), ElementsAre("a", "b", "c"));
  EXPECT_EQ(manifest.tests[0].scalars.at("act_lo"), 0.5);
  EXPECT_EQ(manifest.tests[1].dims.at("K"), 9);
  EXPECT_THAT(manifest.timed, ElementsAre("a", "c"));
  EXPECT_THAT(tests_with("/where", R"(["K % 4 == 0"])"), ElementsAre("a", "c"));
}

TEST(TestsOfAnOp, AreTriedOnThoseAloneWhereAManifestNamesSome) {
  EXPECT_THAT(tests_with("/shapes", R"(["c", "b"])"), ElementsAre("b", "c"));
  EXPECT_THAT(tests_with("/shapes", R"(["d"])"), ElementsAre(HasSubstr("names 'd'")));
}

TEST(TestsOfAManifest, ComeAfterThoseOfItsOp) {
  constexpr const char* kOwn = R"([{"name": "d", "dims": {"N": 4, "K": 8, "act": 0}}])";
  EXPECT_THAT(tests_with("/tests", kOwn), ElementsAre("a", "b", "c", "d"));
  const std::string alone = test::with_field(kSample, "/shapes", "[]");
  const auto catalog = parse(test::with_field(alone, "/tests", kOwn));
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_THAT(names_of(catalog->manifests().front().tests), ElementsAre("d"));
}

TEST(TestsOfAManifest, MayTakeANameThatItIsNotTriedOnOtherwise) {
  constexpr const char* kOwn = R"([{"name": "a", "dims": {"N": 8, "K": 8, "act": 0}}])";
  EXPECT_THAT(tests_with("/tests", kOwn),
              ElementsAre(HasSubstr("names 'a', which already is a test of the op")));
  const std::string alone = test::with_field(kSample, "/shapes", "[\"b\"]");
  const auto catalog = parse(test::with_field(alone, "/tests", kOwn));
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_EQ(catalog->manifests().front().tests[1].dims.at("N"), 8);
}

TEST(TestsOfAManifest, AreNeverNone) {
  EXPECT_THAT(tests_with("/shapes", "[]"), ElementsAre(HasSubstr("field 'tests' is empty")));
  EXPECT_THAT(tests_with("/where", R"(["K > 99"])"), ElementsAre(HasSubstr("is empty")));
  EXPECT_THAT(tests_with("/where", R"(["Q > 99"])"), ElementsAre(HasSubstr("'Q'")));
}

TEST(TimedTests, AreThoseOfTheOpUnlessTheManifestNamesOthers) {
  const auto catalog = parse(test::with_field(kSample, "/timed", R"(["b"])"));
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_THAT(catalog->manifests().front().timed, ElementsAre("b"));
}

TEST(TrialsOfAnOp, WithABadFieldAreRefusedNamingFileAndField) {
  const std::pair<const char*, const char*> rows[] = {{"colour", "1"},
                                                      {"timed", R"(["d"])"},
                                                      {"tests/1/name", R"("a")"},
                                                      {"tests/1/size", "3"},
                                                      {"tests/1/dims", "3"},
                                                      {"domains/0/where", R"("act ==")"},
                                                      {"domains/0/where", R"("code == 1")"},
                                                      {"domains/0/low", "3"},
                                                      {"domains/0/high", R"("x")"},
                                                      {"domains/0/colour", "1"},
                                                      {"domains", "{}"},
                                                      {"examples", R"([{"name": "x"}])"},
                                                      {"examples", R"([{"want": "x"}])"}};
  for (const auto& [field, value] : rows) {
    SCOPED_TRACE(std::string(field) + ": " + value);
    const auto catalog = parse(kSample, test::with_field(kOp, "/" + std::string(field), value));
    ASSERT_FALSE(catalog);
    const std::string first = std::string(field).substr(0, std::string(field).find('/'));
    EXPECT_THAT(catalog.error().message, AllOf(HasSubstr(kOpPath), HasSubstr(first)));
  }
}

TEST(TrialsOfAnOp, NeedAContractOfItsName) {
  const auto catalog = Catalog::parse({{"reference/gem.json", kOp}});
  ASSERT_FALSE(catalog);
  EXPECT_THAT(catalog.error().message, HasSubstr("has no contract"));
}

TEST(AnExampleOfAnOp, HasWhatGoesInAndWhatComesOut) {
  const auto trials = parse_op_trials(kOpPath, R"json({"examples": [
      {"name": "e", "dims": {"N": 1}, "scalars": {"act_lo": 0.5}, "tensors": {"x": [1, 2]},
       "want": [3]}]})json");
  ASSERT_TRUE(trials) << trials.error().message;
  ASSERT_EQ(trials->examples.size(), 1u);
  const OpExample& example = trials->examples.front();
  EXPECT_EQ(example.name, "e");
  EXPECT_EQ(example.values.dims.at("N"), 1);
  EXPECT_EQ(example.values.scalars.at("act_lo"), 0.5);
  EXPECT_THAT(example.values.tensors.at("x"), ElementsAre(1, 2));
  EXPECT_THAT(example.want, ElementsAre(3));
}

TEST(InputDomain, IsTheFirstThatHoldsForTheTensorAndTheCall) {
  const auto catalog = parse(kSample);
  ASSERT_TRUE(catalog) << catalog.error().message;
  const auto& domains = catalog->manifests().front().domains;
  EXPECT_EQ(find_domain(domains, "x", {{"act", 0}}), nullptr);
  EXPECT_EQ(find_domain(domains, "x", {}), nullptr);
  const InputDomain* x = find_domain(domains, "x", {{"act", 3}});
  ASSERT_NE(x, nullptr);
  EXPECT_EQ(x->low, 0.5);
  EXPECT_EQ(x->high, 2);
  EXPECT_FALSE(x->edges);
  const InputDomain* w = find_domain(domains, "w", {{"act", 3}});
  ASSERT_NE(w, nullptr);
  EXPECT_EQ(w->low, -1);
  EXPECT_TRUE(w->edges && w->largest_half);
}

TEST(ATextOfAKernel, ServesEachManifestThatNamesIt) {
  const std::string sample = test::with_field(kSample, "/text", R"("gemv_col4")");
  const auto catalog = parse(sample);
  ASSERT_TRUE(catalog) << catalog.error().message;
  const auto program = program_of(variants_of(catalog->manifests().front()).front());
  ASSERT_TRUE(program) << program.error().message;
  EXPECT_EQ(program->entry, "gemv_col4");
  EXPECT_THAT(*program->sources.front(), HasSubstr("__kernel void gemv_col4("));
}

TEST(EmbeddedTrials, AreThereForEachOpAndEachIsTriedOnAKernel) {
  const Catalog catalog = *Catalog::embedded();
  for (const OpContract* contract : op_contracts()) {
    const std::string path = "reference/" + std::string(contract->op) + ".json";
    const auto text = kernel_text(path);
    ASSERT_TRUE(text) << path;
    const auto trials = parse_op_trials(path, *text);
    ASSERT_TRUE(trials) << trials.error().message;
    std::set<std::string> wanted, tried;
    for (const TestShape& test : trials->tests) wanted.insert(test.name);
    for (const Manifest* manifest : catalog.for_op(contract->op)) {
      for (const TestShape& test : manifest->tests) tried.insert(test.name);
    }
    for (const std::string& name : wanted) EXPECT_TRUE(tried.contains(name)) << path << " " << name;
    EXPECT_FALSE(wanted.empty()) << path;
  }
}

// The rows of "tests" in a file, each without its name.
std::vector<std::string> rows_of(const std::string& path) {
  const test::JsonFields file(*kernel_text(path));
  std::vector<std::string> rows;
  for (size_t i = 0; file.has("/tests") && i < file.size("/tests"); ++i) {
    const std::string row = "/tests/" + std::to_string(i);
    rows.push_back(file.json(row + "/dims") +
                   (file.has(row + "/scalars") ? file.json(row + "/scalars") : ""));
  }
  return rows;
}

TEST(EmbeddedTrials, SayNoShapeTwice) {
  const Catalog catalog = *Catalog::embedded();
  for (const OpContract* contract : op_contracts()) {
    std::vector<std::string> paths = {"reference/" + std::string(contract->op) + ".json"};
    for (const Manifest* manifest : catalog.for_op(contract->op)) {
      paths.push_back("ops/" + manifest->family + "/" + manifest->id + ".json");
    }
    std::set<std::string> rows;
    std::vector<std::string> twice;
    for (const std::string& path : paths) {
      for (const std::string& row : rows_of(path)) {
        if (!rows.insert(row).second) twice.push_back(path + ": " + row);
      }
    }
    EXPECT_THAT(twice, IsEmpty());
  }
}

}  // namespace
}  // namespace clvet
