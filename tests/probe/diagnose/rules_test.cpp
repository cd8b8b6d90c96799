// Rules over facts that an enemy wrote.
#include <gmock/gmock.h>

#include <cctype>
#include <cstring>
#include <vector>

#include "probe/data/data_files.h"
#include "probe/diagnose/rules.h"
#include "probe/files/change.h"

namespace clvet {
namespace {

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
        facts.push_back({{"fact", "text"}, {"text", text}, {"say", text}});
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
  const std::vector<Fact> facts = {{{"fact", "f"}, {"to", "a"}}, {{"fact", "f"}, {"to", "b"}}};
  const auto one = find_failures({rule_with_change("/l")}, facts);
  ASSERT_EQ(one.at(0).fixes.at(0).changes.size(), 1u);
  EXPECT_EQ(one[0].fixes[0].changes[0].value, "a");
  EXPECT_EQ(find_failures({rule_with_change("/l/{to}")}, facts).at(0).fixes.at(0).changes.size(),
            2u);
}

}  // namespace
}  // namespace clvet
