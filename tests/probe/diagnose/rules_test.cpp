// Rules over facts that an enemy wrote.
#include <gmock/gmock.h>

#include <cctype>
#include <cstring>
#include <string>
#include <vector>

#include "base/file.h"
#include "probe/data/data_files.h"
#include "probe/diagnose/fact.h"
#include "probe/diagnose/rules.h"
#include "probe/files/change.h"

namespace clvet {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Every word of the rules' patterns, so long that a pattern that tries all ways never ends.
std::vector<Fact> repeated_words() {
  std::vector<Fact> facts;
  const auto files = data_files("", "advice/rules");
  for (const DataFile& file : files.value()) {
    std::string word;
    for (const char c : file.text) {
      if (std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_./- ", c)) {
        word += c;
        continue;
      }
      if (word.size() > 3) {
        std::string text;
        while (text.size() < 2000) text += word;
        facts.push_back({"text", {{"text", text}}});
      }
      word.clear();
    }
  }
  return facts;
}

TEST(Rules, ComeToAnEndOverTextsThatRepeatTheirOwnWords) {
  const auto rules = failure_rules("");
  ASSERT_TRUE(rules) << rules.error().message;
  const std::vector<Fact> facts = repeated_words();
  EXPECT_GT(facts.size(), 100u);
  for (const Finding& row : find_failures(*rules, facts)) EXPECT_FALSE(row.evidence.empty());
}

Rule rule_with_change(const char* path) {
  Rule rule;
  rule.name = "x";
  FactPattern pattern;
  pattern.kind = "f";
  RuleCase when;
  when.all.push_back(pattern);
  rule.when.push_back(when);
  rule.cause = {{"en", "c"}, {"zh", "c"}};
  RuleFix fix;
  fix.text = rule.cause;
  fix.change = Change{Change::Kind::kLink, path, "{to}"};
  rule.fixes.push_back(fix);
  return rule;
}

TEST(Rules, ProposeOneChangeForOnePath) {
  const std::vector<Fact> facts = {{"f", {{"to", "a"}}}, {"f", {{"to", "b"}}}};
  const auto one = find_failures({rule_with_change("/l")}, facts);
  ASSERT_EQ(one.at(0).fixes.at(0).changes.size(), 1u);
  EXPECT_EQ(one[0].fixes[0].changes[0].value, "a");
  EXPECT_EQ(find_failures({rule_with_change("/l/{to}")}, facts).at(0).fixes.at(0).changes.size(),
            2u);
}

// A folder for --data-dir with one rule.
std::string folder_with_rule(const std::string& text) {
  const std::string folder = testing::TempDir() + "/clvet-rules";
  EXPECT_TRUE(make_folders(folder + "/advice/rules"));
  EXPECT_TRUE(write_file_atomically(folder + "/advice/rules/own.json", text));
  return folder;
}

TEST(Rules, AreRefusedWhereTheyNameAFactOrAFieldThatIsNotDeclared) {
  const auto fault = [](const std::string& pattern, const std::string& cause) {
    const auto rules = failure_rules(
        folder_with_rule(R"({"class": "own", "rank": 1, "when": [{"all": [)" + pattern +
                         R"(]}], "cause": {"en": ")" + cause + R"(", "zh": "x"}, "fixes": []})"));
    return rules ? "" : rules.error().message;
  };
  const std::string right = R"({"fact": "layer", "state": ["broken"]})";
  EXPECT_EQ(fault(right, "{path} is broken"), "");
  EXPECT_THAT(fault(R"({"fact": "leyer"})", "x"),
              AllOf(HasSubstr("own.json"), HasSubstr("no fact 'leyer'"), HasSubstr("layer")));
  EXPECT_THAT(fault(R"({"fact": "layer", "stat": ["broken"]})", "x"),
              HasSubstr("no field 'stat'; its fields are file, path"));
  EXPECT_THAT(fault(right, "{device} is broken"), HasSubstr("no field 'device'"));
  EXPECT_THAT(fault(R"({"nowhere": {"like": "x"}})", "x"), HasSubstr("no field 'nowhere'"));
}

}  // namespace
}  // namespace clvet
