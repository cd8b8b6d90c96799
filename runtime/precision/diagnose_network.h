// Finds the nodes of a network that low precision breaks, and the fewest to raise.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/value_range.h"

namespace clvet {

struct CalibrationInput {
  std::string name;
  std::map<std::string, Tensor> values;
};

// The graph whose nodes are looked at: constants folded, shapes known, and fused where the policy
// says so.
Result<Graph> prepared_for(Policy policy, const Graph& graph,
                           const std::map<std::string, Tensor>& inputs);
// The same, where all inputs fit. kInvalidArgument: there is no input, or one does not.
Result<Graph> prepare_for_diagnosis(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                                    Policy policy);
std::vector<DiagnosedNode> nodes_of(const Graph& graph);  // names and ops
// By name; `inputs` as in Seen.
std::map<std::string, ValueRange> ranges_of(const Graph& graph,
                                            const std::vector<ValueRange>& inputs);
// The outputs of the input `name` beside the reference's.
DiagnosedInput judged(const std::string& name, const std::map<std::string, Tensor>& outputs,
                      const std::map<std::string, Tensor>& reference, double target);
// What the plan's nodes are in the file, and what other engines can do for them.
Status advise(const Graph& graph, const Graph& prepared, const DiagnoseOptions& options,
              PrecisionPlan& plan);

// `graph` as read from the file; all inputs have the same shapes.
Result<PrecisionDiagnosis> diagnose_network(const Graph& graph,
                                            const std::vector<CalibrationInput>& inputs,
                                            const DiagnoseOptions& options);

}  // namespace clvet
