#include "probe/known_issues/known_issues.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <exception>
#include <iterator>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "base/pattern.h"
#include "base/result.h"
#include "probe/data/data_files.h"
#include "probe/known_issues/identity.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

constexpr size_t kLongestSubject = 256;  // what a pattern costs grows with it

struct WordsRow {
  const char* key;
  Words IdentityPattern::*member;
};
constexpr WordsRow kWords[] = {{"stack", &IdentityPattern::stack},
                               {"generation", &IdentityPattern::generation},
                               {"model", &IdentityPattern::model},
                               {"not_model", &IdentityPattern::not_model},
                               {"soc", &IdentityPattern::soc},
                               {"has_extension", &IdentityPattern::has_extension},
                               {"lacks_extension", &IdentityPattern::lacks_extension}};
struct BoundsRow {
  const char* key;
  std::vector<VersionBound> IdentityPattern::*member;
};
constexpr BoundsRow kBounds[] = {{"version", &IdentityPattern::version},
                                 {"cl", &IdentityPattern::cl},
                                 {"kernel", &IdentityPattern::kernel}};
struct PatternsRow {
  const char* key;
  std::vector<TextPattern> IdentityPattern::*member;
};
constexpr PatternsRow kPatterns[] = {{"name", &IdentityPattern::name},
                                     {"os", &IdentityPattern::os},
                                     {"version_text", &IdentityPattern::version_text}};

// The readers throw on a fault; parse_known_issue stops it.
VersionBound read_bound(const std::string& text) {
  const size_t size = text.find_first_not_of("<>=");
  const std::string relation = text.substr(0, size);
  const bool known = relation == "<" || relation == "<=" || relation == ">" || relation == ">=";
  const auto version = size == std::string::npos ? std::nullopt : parse_version(text.substr(size));
  if (!known || !version) {
    throw std::invalid_argument(
        fmt::format("'{}' is not a version bound; write <, <=, > or >= and a version", text));
  }
  return {relation, *version, text};
}

TextPattern read_pattern(const std::string& text) {
  if (!text.starts_with('^') || !text.ends_with('$')) {
    throw std::invalid_argument(
        fmt::format("the pattern '{}' must begin with ^ and end with $", text));
  }
  static_cast<void>(Pattern(text));  // throws
  return {text};
}

IdentityPattern read_identity(const Json& json) {
  IdentityPattern pattern;
  size_t read = 0;
  for (const WordsRow& row : kWords) {
    if (const auto found = json.find(row.key); found != json.end()) {
      pattern.*row.member = found->get<Words>();
      ++read;
    }
  }
  for (const BoundsRow& row : kBounds) {
    if (!json.contains(row.key)) continue;
    for (const auto& text : json.at(row.key).get<Words>())
      (pattern.*row.member).push_back(read_bound(text));
    ++read;
  }
  for (const PatternsRow& row : kPatterns) {
    if (!json.contains(row.key)) continue;
    for (const auto& text : json.at(row.key).get<Words>())
      (pattern.*row.member).push_back(read_pattern(text));
    ++read;
  }
  if (read != json.size() || pattern.stack.empty())
    throw std::invalid_argument("an identity has no \"stack\", or it has an unknown member");
  return pattern;
}

std::optional<IssueCheck> read_check(const Json& json) {
  if (json.is_null()) return std::nullopt;
  return IssueCheck{json.value("trial", ""), json.value("capability", "")};
}

KnownIssue read_issue(const Json& json) {
  KnownIssue issue;
  issue.id = json.at("id");
  issue.title = json.at("title");
  issue.workaround = json.at("workaround");
  issue.title.at("en"), issue.title.at("zh");
  issue.workaround.at("en"), issue.workaround.at("zh");
  for (const Json& row : json.at("identity")) issue.identity.push_back(read_identity(row));
  issue.grade = json.at("grade");
  issue.sources = json.at("sources").get<Words>();
  issue.constructs = json.at("constructs").get<Words>();
  issue.engines = json.at("engines").get<Words>();
  issue.check = read_check(json.at("check"));
  if (!json.at("fixed_in").is_null()) issue.fixed_in = json.at("fixed_in");
  return issue;
}

bool has(const Words& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool holds(const VersionBound& bound, const DriverVersion& version) {
  const auto order = compare(version, bound.version);
  if (!order) return false;
  if (bound.relation == "<") return *order < 0;
  if (bound.relation == "<=") return *order <= 0;
  return bound.relation == ">" ? *order > 0 : *order >= 0;
}

bool all_hold(const std::vector<VersionBound>& bounds,
              const std::optional<DriverVersion>& version) {
  return std::all_of(bounds.begin(), bounds.end(),
                     [&](const VersionBound& bound) { return version && holds(bound, *version); });
}

// "rockchip,rk3399" holds the tokens rockchip and rk3399.
Words tokens_of(const std::string& text) {
  Words tokens(1);
  for (const char c : text) {
    const bool part = std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    if (part) tokens.back() += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (!part && !tokens.back().empty()) tokens.emplace_back();
  }
  return tokens;
}

bool any_token(const Words& wanted, const std::string& text) {
  const Words tokens = tokens_of(text);
  return std::any_of(wanted.begin(), wanted.end(),
                     [&](const auto& word) { return has(tokens, word); });
}

bool any_fits(const std::vector<TextPattern>& patterns, const std::string& value) {
  return patterns.empty() || std::any_of(patterns.begin(), patterns.end(),
                                         [&](const auto& pattern) { return pattern.fits(value); });
}

std::optional<DriverVersion> kernel_release(const std::string& text) {
  return parse_version(text.substr(0, text.find_first_not_of("0123456789.")));
}

bool extensions_fit(const IdentityPattern& pattern, const Words& extensions) {
  const auto listed = [&](const std::string& word) { return has(extensions, word); };
  const Words &wanted = pattern.has_extension, &unwanted = pattern.lacks_extension;
  return std::all_of(wanted.begin(), wanted.end(), listed) &&
         (unwanted.empty() ||
          (!extensions.empty() && std::none_of(unwanted.begin(), unwanted.end(), listed)));
}

bool fits(const IdentityPattern& pattern, const DeviceFacts& facts, const DeviceIdentity& who) {
  const bool any_stack = has(pattern.stack, "*");
  if (any_stack ? !who.cl : !has(pattern.stack, who.stack)) return false;
  if (!pattern.generation.empty() && !has(pattern.generation, who.generation)) return false;
  if (!pattern.model.empty() && !has(pattern.model, who.model)) return false;
  if (has(pattern.not_model, who.model)) return false;
  if (!pattern.soc.empty() && !any_token(pattern.soc, facts.soc)) return false;
  return all_hold(pattern.version, who.release) && all_hold(pattern.cl, who.cl) &&
         (pattern.kernel.empty() || all_hold(pattern.kernel, kernel_release(facts.kernel))) &&
         any_fits(pattern.name, facts.name) && any_fits(pattern.os, facts.os) &&
         any_fits(pattern.version_text, facts.version) && extensions_fit(pattern, facts.extensions);
}

void add_versions(const IdentityPattern& pattern, Words& words) {
  for (const VersionBound& bound : pattern.version)
    words.push_back(fmt::format("version {}", bound.text));
  for (const VersionBound& bound : pattern.cl)
    words.push_back(fmt::format("OpenCL version {}", bound.text));
  for (const VersionBound& bound : pattern.kernel)
    words.push_back(fmt::format("kernel version {}", bound.text));
}

std::string reason_of(const IdentityPattern& pattern, const DeviceFacts& facts,
                      const DeviceIdentity& who) {
  Words words = {has(pattern.stack, "*") ? "any OpenCL driver"
                                         : fmt::format("driver {}", who.stack)};
  if (!pattern.generation.empty()) words.push_back(fmt::format("generation {}", who.generation));
  if (!pattern.model.empty()) words.push_back(fmt::format("model {}", who.model));
  if (!pattern.soc.empty()) words.push_back(fmt::format("board {}", facts.soc));
  add_versions(pattern, words);
  for (const PatternsRow& row : kPatterns) {
    if (!(pattern.*row.member).empty()) words.push_back(fmt::format("a listed {}", row.key));
  }
  for (const std::string& word : pattern.has_extension)
    words.push_back(fmt::format("with the extension {}", word));
  for (const std::string& word : pattern.lacks_extension)
    words.push_back(fmt::format("without the extension {}", word));
  return fmt::format("{}", fmt::join(words, ", "));
}

IssueEvidence observe_trials(const KnownIssue& issue, const DeviceReport& device,
                             const std::vector<VerdictReport>& verdicts) {
  int passed = 0;
  for (const VerdictReport& row : verdicts) {
    if (row.device != device.id || !concerns_trial(issue, row.op, row.constructs)) continue;
    switch (row.verdict) {
      case Verdict::kPass:
        ++passed;
        break;
      case Verdict::kUnsupported:
      case Verdict::kMissing:
      case Verdict::kNotTried:
      case Verdict::kInterrupted:
      case Verdict::kToolError:
        break;
      default:
        return {Observation::kObserved,
                fmt::format("observed here: {} is {}", row.id, to_string(row.verdict))};
    }
  }
  if (passed == 0) return {Observation::kUntested, "not tried here"};
  return {Observation::kNotObserved,
          fmt::format("not observed here: {} trials of this kind passed", passed)};
}

IssueEvidence observe_capability(const std::string& name, const DeviceReport& device) {
  const auto found = device.capabilities.find(name);
  if (found == device.capabilities.end()) return {Observation::kUntested, "not tried here"};
  if (found->second.verdict == CapabilityVerdict::kTrue)
    return {Observation::kNotObserved, fmt::format("not observed here: the check {} passed", name)};
  return {Observation::kObserved,
          fmt::format("observed here: the check {} is {}", name, to_string(found->second.verdict))};
}

bool names_a_driver(const KnownIssue& issue) {
  return std::none_of(issue.identity.begin(), issue.identity.end(),
                      [](const auto& pattern) { return has(pattern.stack, "*"); });
}

int rank_of(Observation observation) {
  if (observation == Observation::kObserved) return 0;
  return observation == Observation::kUntested ? 1 : 2;
}

AdviceReport advice_of(const KnownIssue& issue, const DeviceReport& device, const char* lang,
                       const std::string& reason, const IssueEvidence& seen) {
  const bool english = std::string(lang) == "en";
  const bool cancelled = seen.observation == Observation::kNotObserved;
  AdviceReport row;
  row.id = "known-" + issue.id + "-" + device.id;
  row.lang = lang;
  const std::string& title = issue.title.at(lang);
  if (!cancelled) {
    row.cause = fmt::format("{}{}{}", device.name, english ? ": " : ":", title);
  } else {
    row.cause = english ? fmt::format("{}: not observed here: {}", device.name, title)
                        : fmt::format("{}:此处未见:{}", device.name, title);
  }
  row.evidence = {fmt::format("known issue {} (grade {}): {}", issue.id, issue.grade, reason)};
  row.evidence.push_back(seen.text);
  row.evidence.insert(row.evidence.end(), issue.sources.begin(), issue.sources.end());
  if (cancelled) return row;
  row.fixes = {issue.workaround.at(lang)};
  if (!issue.fixed_in.empty())
    row.fixes.push_back(english ? fmt::format("fixed in {}", issue.fixed_in)
                                : fmt::format("已修复于 {}", issue.fixed_in));
  return row;
}

}  // namespace

bool TextPattern::fits(const std::string& value) const {
  return value.size() <= kLongestSubject && Pattern(text).fits(value);
}

Result<KnownIssue> parse_known_issue(const DataFile& file) {
  CLVET_ASSIGN_OR_RETURN(nlohmann::json json, parse_data(file));
  try {
    return read_issue(json);
  } catch (const std::exception& error) {
    return fail(ErrorCode::kInvalidArgument, "{}: {}", file.name, error.what());
  }
}

Result<std::vector<KnownIssue>> known_issues(const std::string& data_dir) {
  CLVET_ASSIGN_OR_RETURN(std::vector<DataFile> files, data_files(data_dir, "advice/known_issues"));
  std::vector<KnownIssue> issues;
  for (const DataFile& file : files) {
    CLVET_ASSIGN_OR_RETURN(KnownIssue issue, parse_known_issue(file));
    issues.push_back(std::move(issue));
  }
  return issues;
}

std::optional<std::string> match_issue(const KnownIssue& issue, const DeviceFacts& facts) {
  const DeviceIdentity who = identify(facts);
  for (const IdentityPattern& pattern : issue.identity) {
    if (fits(pattern, facts, who)) return reason_of(pattern, facts, who);
  }
  return std::nullopt;
}

bool concerns_trial(const KnownIssue& issue, const std::string& op,
                    const std::vector<std::string>& constructs) {
  if (!issue.check || (issue.check->trial != "*" && issue.check->trial != op)) return false;
  return std::all_of(issue.constructs.begin(), issue.constructs.end(),
                     [&](const std::string& word) { return has(constructs, word); });
}

IssueEvidence observe_issue(const KnownIssue& issue, const DeviceReport& device,
                            const std::vector<VerdictReport>& verdicts) {
  if (!issue.check) return {Observation::kUntested, "clvet cannot test this"};
  return issue.check->capability.empty() ? observe_trials(issue, device, verdicts)
                                         : observe_capability(issue.check->capability, device);
}

std::vector<AdviceReport> advise_known_issues(const std::vector<KnownIssue>& issues,
                                              const Report& report) {
  std::map<int, std::vector<AdviceReport>> by_rank;  // what was seen here first
  for (const DeviceReport& device : report.devices) {
    const DeviceFacts facts = facts_of(device, report.host);
    for (const KnownIssue& issue : issues) {
      const auto reason = match_issue(issue, facts);
      if (!reason) continue;
      const IssueEvidence seen = observe_issue(issue, device, report.verdicts);
      if (!names_a_driver(issue) && seen.observation != Observation::kObserved) continue;
      for (const char* lang : {"en", "zh"})
        by_rank[rank_of(seen.observation)].push_back(advice_of(issue, device, lang, *reason, seen));
    }
  }
  std::vector<AdviceReport> rows;
  for (auto& [rank, some] : by_rank)
    rows.insert(rows.end(), std::make_move_iterator(some.begin()),
                std::make_move_iterator(some.end()));
  return rows;
}

}  // namespace clvet
