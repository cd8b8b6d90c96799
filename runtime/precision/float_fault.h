// What float32 does not hold either: a model that is wrong at high precision, too.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct CalibrationInput;
struct PrecisionDiagnosis;

struct FloatFault {
  std::string name, op;  // the first node that makes such values from right ones
  // It makes NaN or infinite values; else values that are off by more than the target.
  bool lost = false;
  bool in_float64 = false;  // float64 gives them, too
  double part = 0;          // of the outputs, the largest: off from float64
  std::vector<int> inputs;  // with which the outputs are wrong because of it
};

using OutputsByInput = std::span<const std::map<std::string, Tensor>>;

// `references`: the outputs in float32, by input. Float64 is asked, with the first inputs of which
// that is so, where float32 outputs are not finite though all inputs are, and where the input fails
// and some node is out of bounds alone, not for a constant: without one, no error of float32 grows
// so much. The first node of the first input found.
Result<std::optional<FloatFault>> find_float_fault(const Graph& graph,
                                                   std::span<const CalibrationInput> inputs,
                                                   OutputsByInput references,
                                                   const PrecisionDiagnosis& found);

}  // namespace clvet
