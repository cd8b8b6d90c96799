#include "probe/diagnose/rules.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/pattern.h"
#include "base/result.h"
#include "probe/data/data_files.h"
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
  if (row.all.empty()) throw std::invalid_argument("a case without a pattern");
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

LanguageText read_text(const Json& json) {
  return {{"en", json.at("en").get<std::string>()}, {"zh", json.at("zh").get<std::string>()}};
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

std::string field_of(const Fact& fact, const std::string& name) {
  const auto found = fact.find(name);
  return found == fact.end() ? std::string() : found->second;
}

bool fits(const FactPattern& pattern, const Fact& fact) {
  const auto value = [&](const std::string& key) { return field_of(fact, key); };
  if (!pattern.kind.empty() && value("fact") != pattern.kind) return false;
  for (const auto& [key, words] : pattern.equals) {
    if (std::find(words.begin(), words.end(), value(key)) == words.end()) return false;
  }
  return std::all_of(pattern.like.begin(), pattern.like.end(), [&](const auto& row) {
    const std::string subject = value(row.first).substr(0, kLongestSubject);
    return row.second.found_in(subject);
  });
}

bool any_fits(const FactPattern& pattern, const std::vector<Fact>& facts) {
  return std::any_of(facts.begin(), facts.end(),
                     [&](const Fact& fact) { return fits(pattern, fact); });
}

// The text with {field} filled in, "?" for an empty one; `complete` turns false where there is one.
std::string fill(const std::string& text, const Fact& fact, bool& complete) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t open = text.find('{', at);
    const size_t close = open == std::string::npos ? open : text.find('}', open);
    if (close == std::string::npos) return out + text.substr(at);
    const std::string value = field_of(fact, text.substr(open + 1, close - open - 1));
    complete &= !value.empty();
    out += text.substr(at, open - at) + (value.empty() ? "?" : value);
    at = close + 1;
  }
  return out;
}

LanguageText fill_all(const LanguageText& text, const Fact& fact) {
  LanguageText out;
  bool complete = true;
  for (const auto& [lang, words] : text) out[lang] = fill(words, fact, complete);
  return out;
}

std::optional<Change> fill_change(const Change& change, const Fact& fact) {
  bool complete = true;
  Change filled{change.kind, fill(change.path, fact, complete), fill(change.value, fact, complete)};
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

Finding tell(const Rule& rule, int rank, const std::vector<const Fact*>& told) {
  Finding finding{rule.name, rank, fill_all(rule.cause, *told.front()), {}, {}};
  for (const Fact* fact : told) {
    const auto say = fact->find("say");
    if (say != fact->end() && finding.evidence.size() < kMostEvidence)
      finding.evidence.push_back(say->second);
  }
  for (const RuleFix& fix : rule.fixes) {
    FoundFix found = found_fix(fix, told);
    if (!found.text.empty()) finding.fixes.push_back(std::move(found));
  }
  return finding;
}

}  // namespace

Result<std::vector<Rule>> failure_rules(const std::string& data_dir) {
  CLVET_ASSIGN_OR_RETURN(std::vector<DataFile> files, data_files(data_dir, "advice/rules"));
  std::vector<Rule> rules;
  for (const DataFile& file : files) {
    CLVET_ASSIGN_OR_RETURN(nlohmann::json json, parse_data(file));
    try {
      rules.push_back(read_rule(json));
    } catch (const std::exception& error) {
      return fail(ErrorCode::kInvalidArgument, "{}: {}", file.name, error.what());
    }
  }
  std::stable_sort(rules.begin(), rules.end(),
                   [](const Rule& a, const Rule& b) { return a.rank < b.rank; });
  return rules;
}

std::vector<Finding> find_failures(const std::vector<Rule>& rules, const std::vector<Fact>& facts) {
  std::vector<Finding> findings;
  for (const Rule& rule : rules) {
    const auto told = told_facts(rule, facts);
    if (!told.facts.empty()) findings.push_back(tell(rule, told.rank, told.facts));
  }
  std::stable_sort(findings.begin(), findings.end(),
                   [](const Finding& a, const Finding& b) { return a.rank < b.rank; });
  return findings;
}

}  // namespace clvet
