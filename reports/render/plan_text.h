// A plan for a person at a terminal.
#pragma once

#include <string>
#include <vector>

#include "runtime/plan/plan.h"

namespace clvet {

// Where it runs and how long that is predicted to take; each node with its variant, or why it runs
// on the host; the combinations that were not taken, and why.
std::string plan_text(const ExecutionPlan& plan);
// The last part alone.
std::string refused_text(const std::vector<RefusedCombination>& refused);

}  // namespace clvet
