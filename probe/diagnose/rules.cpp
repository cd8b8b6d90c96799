#include "probe/diagnose/rules.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/pattern.h"
#include "base/result.h"
#include "base/text.h"
#include "probe/data/data_files.h"
#include "probe/diagnose/fact.h"
#include "probe/diagnose/packages.h"
#include "probe/files/change.h"

namespace clvet {
namespace {

using Json = nlohmann::json;

constexpr size_t kLongestSubject = 2000;  // the regular expressions recurse
constexpr size_t kMostEvidence = 8;

// The readers throw on a fault; failure_rules stops it.
FactPattern read_pattern(const Json& json) {
  FactPattern pattern;
  pattern.kind = json.value("fact", "");
  for (const auto& [key, value] : json.items()) {
    if (key == "fact") continue;
    if (value.is_array()) {
      pattern.equals[key] = value.get<std::vector<std::string>>();
    } else {
      pattern.like.emplace(key, Pattern(value.at("like").get<std::string>(), Pattern::Case::kAny));
    }
  }
  return pattern;
}

RuleCase read_case(const Json& json) {
  RuleCase row;
  for (const Json& pattern : json.at("all")) row.all.push_back(read_pattern(pattern));
  if (row.all.empty()) throw std::invalid_argument("a case of \"when\" has no pattern");
  if (json.contains("rank")) row.rank = json.at("rank").get<int>();
  if (json.contains("none")) {
    for (const Json& pattern : json.at("none")) row.none.push_back(read_pattern(pattern));
  }
  return row;
}

Change read_change(const Json& json) {
  const std::map<std::string, Change::Kind> kinds = {{"link", Change::Kind::kLink},
                                                     {"file", Change::Kind::kFile},
                                                     {"move", Change::Kind::kMove},
                                                     {"variable", Change::Kind::kVariable}};
  return {kinds.at(json.at("kind").get<std::string>()), json.at("path").get<std::string>(),
          json.at("value").get<std::string>()};
}

std::string words_of(const Json& json) {
  const auto words = with_commands(json.get<std::string>());
  if (!words) throw std::invalid_argument(words.error().message);
  return *words;
}

LanguageText read_text(const Json& json) {
  return {{"en", words_of(json.at("en"))}, {"zh", words_of(json.at("zh"))}};
}

Rule read_rule(const Json& json) {
  Rule rule;
  rule.name = json.at("class");
  rule.rank = json.at("rank");
  for (const Json& row : json.at("when")) rule.when.push_back(read_case(row));
  rule.cause = read_text(json.at("cause"));
  for (const Json& row : json.at("fixes")) {
    RuleFix fix{read_text(row), {}, {}};
    if (row.contains("only")) fix.only = read_pattern(row.at("only"));
    if (row.contains("change")) fix.change = read_change(row.at("change"));
    rule.fixes.push_back(std::move(fix));
  }
  return rule;
}

bool fits(const FactPattern& pattern, const Fact& fact) {
  if (!pattern.kind.empty() && fact.kind != pattern.kind) return false;
  for (const auto& [key, words] : pattern.equals) {
    if (std::find(words.begin(), words.end(), fact.at(key)) == words.end()) return false;
  }
  return std::all_of(pattern.like.begin(), pattern.like.end(), [&](const auto& row) {
    const std::string subject = fact.at(row.first).substr(0, kLongestSubject);
    return row.second.found_in(subject);
  });
}

bool any_fits(const FactPattern& pattern, const std::vector<Fact>& facts) {
  return std::any_of(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fits(pattern, fact); });
}

LanguageText fill_all(const LanguageText& text, const Fact& fact) {
  LanguageText out;
  bool complete = true;
  for (const auto& [lang, words] : text)
    out[lang] = fill_fields(words, in_language(fact, lang), "?", complete);
  return out;
}

std::optional<Change> fill_change(const Change& change, const Fact& fact) {
  bool complete = true;
  Change filled{change.kind, fill_fields(change.path, fact, "?", complete),
                fill_fields(change.value, fact, "?", complete)};
  if (!complete || filled.path == filled.value) return std::nullopt;
  return filled;
}

struct Told {
  std::vector<const Fact*> facts;
  int rank = std::numeric_limits<int>::max();  // the least of the cases that hold
};

// The facts that one of the rule's cases tells.
Told told_facts(const Rule& rule, const std::vector<Fact>& facts) {
  Told found;
  std::vector<const Fact*>& told = found.facts;
  for (const RuleCase& row : rule.when) {
    const bool holds = std::all_of(row.all.begin(), row.all.end(),
                                   [&](const auto& p) { return any_fits(p, facts); }) &&
                       std::none_of(row.none.begin(), row.none.end(),
                                    [&](const auto& p) { return any_fits(p, facts); });
    if (!holds) continue;
    found.rank = std::min(found.rank, row.rank.value_or(rule.rank));
    for (const Fact& fact : facts) {
      if (fits(row.all.front(), fact) && std::find(told.begin(), told.end(), &fact) == told.end())
        told.push_back(&fact);
    }
  }
  return found;
}

FoundFix found_fix(const RuleFix& fix, const std::vector<const Fact*>& told) {
  FoundFix found;
  for (const Fact* fact : told) {
    if (fix.only && !fits(*fix.only, *fact)) continue;
    if (found.text.empty()) found.text = fill_all(fix.text, *fact);
    const auto change = fix.change ? fill_change(*fix.change, *fact) : std::nullopt;
    const auto same = [&](const Change& row) {
      return row.kind == change->kind && row.path == change->path;
    };
    if (change && std::none_of(found.changes.begin(), found.changes.end(), same))
      found.changes.push_back(*change);
  }
  return found;
}

Finding tell(const Rule& rule, int rank, const std::vector<const Fact*>& told,
             const FactKinds& kinds) {
  Finding finding{rule.name, rank, fill_all(rule.cause, *told.front()), {}, {}};
  for (const Fact* fact : told) {
    if (finding.evidence.size() < kMostEvidence)
      finding.evidence.push_back(tell_fact(*fact, kinds));
  }
  for (const RuleFix& fix : rule.fixes) {
    FoundFix found = found_fix(fix, told);
    if (!found.text.empty()) finding.fixes.push_back(std::move(found));
  }
  return finding;
}

// What a rule may ask for and fill in: the fields of a kind; of none, those of all kinds.
Result<std::set<std::string>> fields_of(const std::string& kind, const FactKinds& kinds) {
  if (const auto found = kinds.find(kind); found != kinds.end()) return found->second.fields;
  std::set<std::string> names, all;
  for (const auto& [name, row] : kinds) {
    names.insert(name);
    all.insert(row.fields.begin(), row.fields.end());
  }
  if (kind.empty()) return all;
  return fail(ErrorCode::kInvalidArgument, "no fact '{}'; the facts are {}", one_line(kind, 40),
              fmt::join(names, ", "));
}

Status check_fields(const std::string& kind, const std::set<std::string>& wanted,
                    const FactKinds& kinds) {
  CLVET_ASSIGN_OR_RETURN(const std::set<std::string> known, fields_of(kind, kinds));
  for (const std::string& name : wanted) {
    if (known.contains(name)) continue;
    return fail(ErrorCode::kInvalidArgument, "the fact '{}' has no field '{}'; its fields are {}",
                kind, one_line(name, 40), fmt::join(known, ", "));
  }
  return {};
}

std::set<std::string> fields_in(const FactPattern& pattern) {
  std::set<std::string> fields;
  for (const auto& [key, words] : pattern.equals) fields.insert(key);
  for (const auto& [key, like] : pattern.like) fields.insert(key);
  return fields;
}

std::set<std::string> fields_in(const LanguageText& text) {
  std::set<std::string> fields;
  for (const auto& [lang, words] : text) fields.merge(clvet::fields_in(words));
  return fields;
}

std::set<std::string> fields_in(const RuleFix& fix) {
  std::set<std::string> fields = fields_in(fix.text);
  if (fix.change) fields.merge(clvet::fields_in(fix.change->path + fix.change->value));
  return fields;
}

// What the cause, and a fix for any of the told facts, may fill in: what one of these facts has.
Status check_told(const Rule& rule, const std::set<std::string>& wanted, const FactKinds& kinds) {
  Status status;
  for (const RuleCase& row : rule.when) {
    status = check_fields(row.all.front().kind, wanted, kinds);
    if (status) return status;
  }
  return status;
}

// Every fact and field that the rule names is declared.
Status check_rule(const Rule& rule, const FactKinds& kinds) {
  for (const RuleCase& row : rule.when) {
    for (const auto& patterns : {row.all, row.none}) {
      for (const FactPattern& pattern : patterns) {
        CLVET_RETURN_IF_ERROR(check_fields(pattern.kind, fields_in(pattern), kinds));
      }
    }
  }
  CLVET_RETURN_IF_ERROR(check_told(rule, fields_in(rule.cause), kinds));
  for (const RuleFix& fix : rule.fixes) {
    if (!fix.only) {
      CLVET_RETURN_IF_ERROR(check_told(rule, fields_in(fix), kinds));
      continue;
    }
    std::set<std::string> wanted = fields_in(*fix.only);
    wanted.merge(fields_in(fix));
    CLVET_RETURN_IF_ERROR(check_fields(fix.only->kind, wanted, kinds));
  }
  return {};
}

}  // namespace

Result<std::vector<Rule>> failure_rules(const std::string& data_dir) {
  CLVET_ASSIGN_OR_RETURN(std::vector<DataFile> files, data_files(data_dir, "advice/rules"));
  const auto& kinds = fact_kinds();
  if (!kinds) return tl::unexpected(kinds.error());
  std::vector<Rule> rules;
  for (const DataFile& file : files) {
    CLVET_ASSIGN_OR_RETURN(nlohmann::json json, parse_data(file));
    try {
      rules.push_back(read_rule(json));
    } catch (const std::exception& error) {
      return fail(ErrorCode::kInvalidArgument, "{}: {}", file.name, error.what());
    }
    if (const Status known = check_rule(rules.back(), *kinds); !known) {
      return wrap(known.error(), file.name);
    }
  }
  std::stable_sort(rules.begin(), rules.end(),
                   [](const Rule& a, const Rule& b) { return a.rank < b.rank; });
  return rules;
}

std::vector<Finding> find_failures(const std::vector<Rule>& rules, const std::vector<Fact>& facts) {
  std::vector<Finding> findings;
  static const FactKinds none;
  const FactKinds& kinds = fact_kinds() ? *fact_kinds() : none;
  for (const Rule& rule : rules) {
    const auto told = told_facts(rule, facts);
    if (!told.facts.empty()) findings.push_back(tell(rule, told.rank, told.facts, kinds));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.rank < b.rank; });
  return findings;
}

}  // namespace clvet
