// Known defects of drivers: data with sources, matched against who a device is. Pure.
//
// A match is a reason to look, never to refuse: trials decide, and one that passes cancels it.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/data/data_files.h"
#include "probe/known_issues/identity.h"
#include "probe/report/report.h"

namespace clvet {

struct VersionBound {
  std::string relation;  // < <= >= >
  DriverVersion version;
  std::string text;  // as written
};

// A pattern that a whole string must fit.
struct TextPattern {
  std::string text;
  bool fits(const std::string& value) const;
};

// All that is given must hold; of a list of words any one. Words are whole tokens, never parts.
struct IdentityPattern {
  std::vector<std::string> stack;  // "*": any OpenCL device
  std::vector<std::string> generation, model, not_model, soc, has_extension, lacks_extension;
  std::vector<VersionBound> version, cl, kernel;  // all of them; an unknown version never fits
  std::vector<TextPattern> name, os, version_text;
};

// What observes an issue: trials of `trial` (an op, or "*") with all of the issue's constructs, or
// a capability check.
struct IssueCheck {
  std::string trial, capability;
};

struct KnownIssue {
  std::string id;
  std::map<std::string, std::string> title, workaround;  // by language: en, zh
  std::vector<IdentityPattern> identity;                 // any of them
  std::string grade;  // A: stated by maintained source; B: a thread with evidence; C: one report
  std::vector<std::string> sources, constructs, engines;
  std::optional<IssueCheck> check;  // none: nothing that we try observes it
  std::string fixed_in;             // empty: not known
};

// kInvalidArgument names the file and the fault.
Result<KnownIssue> parse_known_issue(const DataFile& file);
Result<std::vector<KnownIssue>> known_issues(const std::string& data_dir);

// Why the issue concerns the device, in one phrase; nullopt where it does not.
std::optional<std::string> match_issue(const KnownIssue& issue, const DeviceFacts& facts);

// True where the issue's check looks at trials of `op` with these constructs.
bool concerns_trial(const KnownIssue& issue, const std::string& op,
                    const std::vector<std::string>& constructs);

enum class Observation { kUntested, kObserved, kNotObserved };
struct IssueEvidence {
  Observation observation = Observation::kUntested;
  std::string text;  // what was seen, in one phrase
};
// What the report's trials say of it. Trials that were not reached or not possible say nothing.
IssueEvidence observe_issue(const KnownIssue& issue, const DeviceReport& device,
                            const std::vector<VerdictReport>& verdicts);

// The issues that concern the report's devices, in English and in Chinese: "known-<id>-<device>".
// Those that were observed come first, those whose check passed last; these say so and have no fix.
// One that concerns any driver is told only where it was seen.
std::vector<AdviceReport> advise_known_issues(const std::vector<KnownIssue>& issues,
                                              const Report& report);

}  // namespace clvet
