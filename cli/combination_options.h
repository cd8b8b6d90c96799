// The words of a combination and a plan's file, as options of the verbs that run models.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "runtime/plan/plan.h"

namespace clvet {

struct CombinationArguments {
  std::string precision = "auto", memory = "auto", activations = "auto", weights = "auto";
  PlanOverrides overrides() const;
};

// `activations` are the words that the verb takes for them.
void add_combination(Verb verb, CombinationArguments& arguments,
                     const std::vector<std::string>& activations);

// --plan, which excludes the words of a combination and --device. After them.
void add_plan_option(Verb verb, std::string& file);
Result<ExecutionPlan> read_plan(const std::string& file);

}  // namespace clvet
