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

namespace clvet {

struct CalibrationInput {
  std::string name;
  std::map<std::string, Tensor> values;
};

// The graph whose nodes are looked at: constants folded, shapes known, and fused where the policy
// says so.
Result<Graph> prepared_for(Policy policy, const Graph& graph,
                           const std::map<std::string, Tensor>& inputs);

// `graph` as read from the file; all inputs have the same shapes.
Result<PrecisionDiagnosis> diagnose_network(const Graph& graph,
                                            const std::vector<CalibrationInput>& inputs,
                                            const DiagnoseOptions& options);

}  // namespace clvet
