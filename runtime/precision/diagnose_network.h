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

// The nodes that are diagnosed: of `graph` as read from the file, folded and fused where the policy
// is kEngine, with the shapes of the inputs. kInvalidArgument: there is no input, or one does not
// fit.
Result<Graph> prepare_for_diagnosis(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                                    Policy policy);
std::vector<DiagnosedNode> nodes_of(const Graph& graph);  // names and ops
// By name; `inputs` as in Seen.
std::map<std::string, ValueRange> ranges_of(const Graph& graph,
                                            const std::vector<ValueRange>& inputs);
// The outputs of the input `name` beside the reference's.
DiagnosedInput judged(const std::string& name, const std::map<std::string, Tensor>& outputs,
                      const std::map<std::string, Tensor>& reference, double target);

// `graph` as read from the file; all inputs have the same shapes.
Result<PrecisionDiagnosis> diagnose_network(const Graph& graph,
                                            const std::vector<CalibrationInput>& inputs,
                                            const DiagnoseOptions& options);

}  // namespace clvet
