// A network in float32 beside the same in float64.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// Of float32 values beside float64.
struct BesideDouble {
  // Root mean square of the error over that of the float64 values; infinite where float64 gives
  // finite values and float32 does not.
  double part = 0;
  bool finite = true;  // float32 gives no NaN and no infinite value
};

struct BesideDoubleRun {
  std::vector<BesideDouble> nodes;              // by node: of its float32 outputs
  std::map<std::string, BesideDouble> outputs;  // of the network, by name
};

// The outputs in float64, by name. The graph is as Emulation wants it. Float32 constants and inputs
// are taken as exact; an operator that has no float64 code is computed in float32 from rounded
// inputs.
Result<std::map<std::string, Tensor>> run_in_double(const Graph& graph,
                                                    const std::map<std::string, Tensor>& inputs);
// The outputs of both; those that are not in `single` are left out.
std::map<std::string, BesideDouble> compare_with_double(const std::map<std::string, Tensor>& single,
                                                        const std::map<std::string, Tensor>& exact);
// Node by node.
Result<BesideDoubleRun> run_beside_double(const Graph& graph,
                                          const std::map<std::string, Tensor>& inputs);

}  // namespace clvet
