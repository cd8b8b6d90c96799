// From verdicts to advice: which constructs a driver cannot take, and what to set instead. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "probe/diagnose/rules.h"
#include "probe/known_issues/known_issues.h"
#include "probe/report/report.h"

namespace clvet {

// The smallest set of constructs (three at most) that every failing verdict has and no right one of
// the same device has in full; empty where there is none.
std::vector<std::string> blamed_constructs(const std::vector<const VerdictReport*>& failing,
                                           const std::vector<const VerdictReport*>& right);

// What advice rests on beside the report.
struct AdviceData {
  std::vector<KnownIssue> issues;
  std::vector<Rule> rules;
};
// That of `data_dir`, else (and for what it lacks) the embedded one.
Result<AdviceData> advice_data(const std::string& data_dir);

// Advice for everything in the report that a person can act on, in English and in Chinese: each
// entry twice, with `lang` en and zh.
std::vector<AdviceReport> advise(const Report& report, const AdviceData& data);

}  // namespace clvet
