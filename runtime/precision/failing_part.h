// The smallest part of a network that shows its first fault, with what enters it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/diagnose_model.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

struct FailingPart {
  // Of the network as it stands in the file, constants folded; all shapes are known.
  Graph graph;
  std::string input;                      // of the diagnosis, from which the values are
  std::map<std::string, Tensor> inputs;   // by name: in float32, what enters the part
  std::map<std::string, Tensor> outputs;  // what it makes of them in float32
};

// `found` is the diagnosis of the graph with the inputs. The part holds the first origin, the node
// that makes its value, the first node that shows the error and all between them; and as many of
// the nodes behind as are needed so that a diagnosis of the part alone names the same origin with
// the same fault, which is tried. kNotFound: there is no origin, or no part less than all of the
// network does that.
Result<FailingPart> failing_part(const Graph& graph, const std::vector<CalibrationInput>& inputs,
                                 const PrecisionDiagnosis& found, const DiagnoseOptions& options);

}  // namespace clvet
