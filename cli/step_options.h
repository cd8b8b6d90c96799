// The options of a network that is run step by step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/input_files.h"
#include "cli/options.h"
#include "runtime/graph/graph.h"
#include "runtime/run/steps.h"

namespace clvet {

struct StepArguments {
  std::vector<std::string> feedback;  // OUTPUT=INPUT
  std::vector<std::string> series;    // INPUT=FILE
  int count = 0;                      // 0: not said
  int64_t chunk = 0, overlap = 0;     // samples of sound in a step; 0: not said
};

void add_steps(Verb verb, StepArguments& arguments);

// Nothing where none of them is given. `sample_rate`: of sound; 0: that of the file.
// kInvalidArgument: an option or a file is wrong.
Result<std::optional<StepOptions>> read_steps(const StepArguments& arguments, const Graph& graph,
                                              int sample_rate, Notes& notes);

}  // namespace clvet
