// A report as facts for the rules. Pure.
#pragma once

#include <vector>

#include "probe/diagnose/fact.h"
#include "probe/diagnose/rules.h"
#include "probe/report/report.h"

namespace clvet {

std::vector<Fact> facts_of_report(const Report& report);

// Findings as advice, in English and in Chinese: "class-<name>".
std::vector<AdviceReport> advice_of_findings(const std::vector<Finding>& findings);

}  // namespace clvet
