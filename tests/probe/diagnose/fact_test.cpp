#include "probe/diagnose/fact.h"

#include <gmock/gmock.h>

#include <set>
#include <string>
#include <vector>

#include "base/json.h"  // IWYU pragma: keep
#include "probe/diagnose/file_facts.h"
#include "probe/diagnose/report_facts.h"
#include "probe/files/file_view.h"
#include "probe/files/linker.h"
#include "probe/files/loader_view.h"
#include "probe/files/survey.h"
#include "tests/boards.h"
#include "tests/probe/samples.h"
#include "tests/support.h"

namespace clvet {
namespace {

using ::testing::IsSupersetOf;

std::string filled(const std::string& text, const Fact& fact) {
  bool complete = true;
  return fill_fields(text, fact, "?", complete);
}

std::string in_sections(const std::string& text, const Fact& fact) {
  bool complete = true;
  return fill_sections(text, fact, complete);
}

const Fact kFact = {"f", {{"a", "1"}, {"b", ""}}};

TEST(FillFields, MarksAnEmptyFieldAndLeavesTheRestOfTheTextAlone) {
  EXPECT_EQ(filled("{b} and {c}", kFact), "? and ?");
  EXPECT_EQ(filled("{a", kFact), "{a");
  EXPECT_EQ(filled("[main]\npath = {a}\n", kFact), "[main]\npath = 1\n");
  EXPECT_EQ(filled("", kFact), "");
}

TEST(FillSections, LeavesOutThoseInWhichAFieldIsEmpty) {
  EXPECT_EQ(in_sections("x {a}[, {b}][, {a}]", kFact), "x 1, 1");
  EXPECT_EQ(in_sections("{b} and {a}", kFact), " and 1");
  EXPECT_EQ(in_sections("[{a}", kFact), "[1");
  EXPECT_EQ(in_sections("", kFact), "");
}

TEST(TellFact, TakesTheFirstSentenceWhoseFieldsAllHaveAValue) {
  const auto& kinds = fact_kinds();
  ASSERT_TRUE(kinds) << kinds.error().message;
  EXPECT_EQ(tell_fact({"machine", {{"count", "2"}, {"first", "Mali-G52"}}}, *kinds).at("en"),
            "2 device(s), Mali-G52 first");
  EXPECT_EQ(tell_fact({"machine", {{"count", "0"}}}, *kinds).at("en"), "no device is listed");
  EXPECT_EQ(tell_fact({"odd", {{"a", "1"}}}, *kinds).at("zh"), "a=1 ");
}

// A sentence with a field that its kind does not have, or without one of the languages.
TEST(FactKinds, HaveSentencesOfTheirOwnFieldsInBothLanguages) {
  const auto& kinds = fact_kinds();
  ASSERT_TRUE(kinds) << kinds.error().message;
  for (const auto& [name, kind] : *kinds) {
    ASSERT_FALSE(kind.sentences.empty()) << name;
    for (const LanguageText& sentence : kind.sentences) {
      EXPECT_EQ(fields_in(sentence.at("en")), fields_in(sentence.at("zh"))) << name;
      EXPECT_THAT(kind.fields, IsSupersetOf(fields_in(sentence.at("en")))) << name;
    }
  }
}

std::vector<Fact> facts_of_board(const std::string& name) {
  const test::TempDir folder;
  const nlohmann::json board = test::board(name);
  if (board.contains("tree")) test::build_board(board.at("tree"), folder.path());
  const auto view = view_of(folder.path());
  LinkerSetting setting = setting_of(*view);
  setting.variables = variables_of_tree(*view);
  return facts_of_files(*view, survey_files(*view, setting));
}

TEST(Facts, HoldTheFieldsThatTheirKindsDeclare) {
  const auto& kinds = fact_kinds();
  ASSERT_TRUE(kinds) << kinds.error().message;
  std::vector<Fact> facts = facts_of_report(test::sample_report());
  for (const std::string& board : test::board_names()) {
    const auto files = facts_of_board(board);
    facts.insert(facts.end(), files.begin(), files.end());
  }
  std::set<std::string> seen;
  for (const Fact& fact : facts) {
    seen.insert(fact.kind);
    ASSERT_TRUE(kinds->contains(fact.kind)) << fact.kind;
    for (const auto& [field, value] : fact.fields) {
      EXPECT_TRUE(kinds->at(fact.kind).fields.contains(field)) << fact.kind << ": " << field;
    }
  }
  EXPECT_GT(seen.size(), kinds->size() * 3 / 4);
}

}  // namespace
}  // namespace clvet
