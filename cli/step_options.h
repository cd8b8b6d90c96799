// The options of a network that is run step by step.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "runtime/run/steps.h"

namespace clvet {

struct StepArguments {
  std::vector<std::string> feedback;  // OUTPUT=INPUT
  std::vector<std::string> series;    // INPUT=FILE
  int count = 0;                      // 0: not said
};

void add_steps(Verb verb, StepArguments& arguments);

// Nothing where none of them is given. kInvalidArgument: an option or a file is wrong.
Result<std::optional<StepOptions>> read_steps(const StepArguments& arguments);

}  // namespace clvet
