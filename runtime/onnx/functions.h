// The functions that a model brings along.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "runtime/onnx/graph_builder.h"
#include "runtime/onnx/onnx.pb.h"

namespace clvet {

// Puts the nodes of a function in the place of each node that calls it, in subgraphs and functions,
// too: afterwards no node calls any. What a function makes gets names of its own that begin with
// the call's. `opsets` gets the operator sets that only functions name; where both name one, ONNX
// has it that the operators are the same in both versions. An error: a function that calls itself,
// calls that grow beyond the limits below, an operator set that is no version.
Status expand_functions(onnx::ModelProto& model, OpsetVersions& opsets);

inline constexpr size_t kMostFunctionDepth = 100;
inline constexpr size_t kMostFunctionNodes = size_t{1} << 18;
inline constexpr size_t kMostFunctionBytes = size_t{1} << 30;

}  // namespace clvet
