// Shapes and constants: everything that follows from the inputs' shapes alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

// The largest tensor that folding makes a constant of.
inline constexpr int64_t kMaxFoldedBytes = int64_t{64} << 20;

// Integers of more elements are data, not parameters.
inline constexpr int64_t kMostGiven = 64;

// Infers types and folds every node whose inputs are constant (or, like Shape, whose result is); an
// If with a known condition becomes the branch that it takes.
// Types that depend on open dims or on run-time values stay unknown.
Status infer_and_fold(Graph& graph);

std::map<std::string, Shape> shapes_of(const std::map<std::string, Tensor>& inputs);

// The graph for given input shapes, folded again; tensors are shared with the original. Inputs that
// are not named keep their declared shape. Of `values`, those become constants that only decide
// shapes, bounds, weights and the like (OpDef::wants_known), and those that `deciding` names,
// whatever else reads them: Graph::given names them, and the graph then holds for these values
// alone. kInvalidArgument: an unknown input, or a shape that the model does not allow, extents of
// one name that differ among them.
Result<Graph> specialise(const Graph& graph, const std::map<std::string, Shape>& shapes,
                         const std::map<std::string, Tensor>& values = {},
                         const std::set<std::string>& deciding = {});

// The inputs of which specialise() would make constants, were their values given.
std::vector<ValueId> parameters_of(const Graph& graph);

// The node as inference and lowering see it; nullopt while some input's type is unknown.
std::optional<OpCall> call_of(const Graph& graph, const Node& node);

}  // namespace clvet
