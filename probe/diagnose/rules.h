// Failure classes as data: a pattern over facts, its cause, what to do, in order. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"
#include "probe/diagnose/fact.h"
#include "probe/files/change.h"

namespace clvet {

struct FactPattern {
  std::string kind;
  std::map<std::string, std::vector<std::string>> equals;  // any of the words
  std::map<std::string, Pattern> like;                     // found within, whatever the case
};

struct RuleCase {
  std::vector<FactPattern> all, none;  // the first of `all` is told and fills the templates
  std::optional<int> rank;             // in place of the rule's, where this case alone holds
};

struct RuleFix {
  LanguageText text;
  std::optional<FactPattern> only;  // offered only where the told fact fits
  std::optional<Change> change;     // with {field} of the told fact; left out where one is empty
};

struct Rule {
  std::string name;            // the failure class
  int rank = 0;                // lower is told first
  std::vector<RuleCase> when;  // any of them
  LanguageText cause;
  std::vector<RuleFix> fixes;
};

// kInvalidArgument names the file and the fault: a fact or field that is not declared, too.
Result<std::vector<Rule>> failure_rules(const std::string& data_dir);

struct FoundFix {
  LanguageText text;
  std::vector<Change> changes;
};

struct Finding {
  std::string name;
  int rank = 0;
  LanguageText cause;
  std::vector<LanguageText> evidence;
  std::vector<FoundFix> fixes;
};

// One finding for each class that shows, the most fundamental first.
std::vector<Finding> find_failures(const std::vector<Rule>& rules, const std::vector<Fact>& facts);

}  // namespace clvet
