// A model run step by step: what one step makes is given back to the next.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/run/doubt.h"
#include "runtime/run/open_network.h"

namespace clvet {

struct StepOptions {
  // Output -> input: the value of the output is that of the input in the next step.
  std::map<std::string, std::string> feedback;
  // Inputs with one value for each step, along a first axis more than the model's.
  std::map<std::string, Tensor> series;
  int count = 1;  // of steps, where no input is a series
};

// The graph's inputs that need no value from the caller: those of a series, and of those that are
// fed back the ones whose shapes the model says; the first step gets zeros of the latter.
// kInvalidArgument: no such input or output, two that feed the same, series of different lengths.
Result<std::vector<std::string>> inputs_of_steps(const Graph& graph, const StepOptions& options);

struct StepAnswers {
  Outputs outputs;  // of all steps, along a new first axis; of what is fed back, of the last one
  // Outputs that changed their shape from step to step: theirs are of the last one, too.
  std::vector<std::string> changing;
  std::map<std::string, Tensor> inputs;  // of the last step
  std::vector<double> ms;                // of each step but the first
};
// `inputs`: of the first step. The options fit the graph.
Result<StepAnswers> run_steps(OpenNetwork& network, const std::map<std::string, Tensor>& inputs,
                              const StepOptions& options);

}  // namespace clvet
