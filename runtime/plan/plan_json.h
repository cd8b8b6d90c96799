// The JSON form of a plan, `clvet.plan/1` (reports/schema/plan.schema.json, docs/plan.md).
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/plan/plan.h"

namespace clvet {

std::string plan_to_json(const ExecutionPlan& plan);

// kInvalidArgument: the text is no plan; the message begins with `source` and names the field. That
// it is a plan of some model is another question (check_network_plan, DecoderPlanner::check).
Result<ExecutionPlan> plan_from_json(const std::string& text, const std::string& source);

}  // namespace clvet
