// How control flow runs the graphs in its attributes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {

// The graph in that attribute; kInvalidArgument where there is none, or where it has other numbers
// of inputs of its own than `own`, or less than `least_outputs` outputs.
Result<const Graph*> subgraph_of(const OpCall& call, std::string_view name, size_t own,
                                 size_t least_outputs);
// How many of the node's inputs are not there for its subgraphs alone.
size_t given_inputs(const OpCall& call);
// How many of a subgraph's inputs the operator gives.
size_t own_inputs(const Graph& graph);

// The subgraph's outputs in order. `own` are the inputs that the operator gives, own_inputs() of
// them; the others are the node's. kUnavailable where one of these is not known yet; kCancelled
// where the caller of the run gave up (runtime/host/cancel.h). Errors name the node in the
// subgraph.
Result<std::vector<Tensor>> run_subgraph(const OpCall& call, const Graph& graph,
                                         std::vector<Tensor> own);

// The value of a condition: a single truth value, else kInvalidArgument, which names it as `what`.
Result<bool> truth_of(const Tensor& tensor, std::string_view what);

// What a graph makes in each trip, as one tensor with a new first axis.
class TripStack {
 public:
  // kInvalidArgument where the row has another type or shape than those before.
  Status add(const Tensor& row);
  // `declared` says the type where there were no trips; an extent that it leaves open is 0 then.
  Result<Tensor> all(const Value& declared) const;

 private:
  int64_t rows_ = 0, room_ = 0;
  TensorType row_;
  Tensor data_;  // [room_, row]
};

}  // namespace clvet
