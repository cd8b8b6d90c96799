// Finds the nodes of a network that low precision breaks, and the fewest to raise.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/event.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"

namespace clvet {

struct CalibrationInput {
  std::string name;
  std::map<std::string, Tensor> values;
};

struct DiagnoseOptions {
  Policy policy = Policy::kEngine;
  NumberFormat format = NumberFormat::kHalf;
  // Of the root mean square of an output's error over that of the output. Real networks that half
  // serves well stay below 0.01, those that it breaks are beyond 0.1
  // (docs/diagnose.md has the figures).
  double target = 0.05;
  EventSink sink;
};

// `graph` as read from the file; all inputs have the same shapes.
Result<PrecisionDiagnosis> diagnose_network(const Graph& graph,
                                            const std::vector<CalibrationInput>& inputs,
                                            const DiagnoseOptions& options);

}  // namespace clvet
