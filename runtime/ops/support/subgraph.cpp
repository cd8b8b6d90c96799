#include "runtime/ops/support/subgraph.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/cancel.h"
#include "runtime/host/executor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"

namespace clvet {

Result<const Graph*> subgraph_of(const OpCall& call, std::string_view name, size_t own,
                                 size_t least_outputs) {
  const Graph* graph = call.node.graph_attr(name);
  if (!graph) return missing_attribute(call, name);
  if (own_inputs(*graph) != own) {
    return fail(ErrorCode::kInvalidArgument,
                "{}'s graph {} has {} inputs of its own, but the node gives it {}", call.node.op,
                name, own_inputs(*graph), own);
  }
  if (graph->outputs.size() < least_outputs) {
    return fail(ErrorCode::kInvalidArgument, "{}'s graph {} has {} outputs, but needs {}",
                call.node.op, name, graph->outputs.size(), least_outputs);
  }
  return graph;
}

size_t given_inputs(const OpCall& call) { return call.inputs.size() - call.node.captured; }

size_t own_inputs(const Graph& graph) { return graph.inputs.size() - graph.captures.size(); }

Result<std::vector<Tensor>> run_subgraph(const OpCall& call, const Graph& graph,
                                         std::vector<Tensor> own) {
  if (cancel_requested()) return fail(ErrorCode::kCancelled, "the run was cancelled");
  std::map<std::string, Tensor> inputs;
  for (size_t i = 0; i < graph.inputs.size(); ++i) {
    const Value& value = graph.values[static_cast<size_t>(graph.inputs[i])];
    const std::string& name = value.name;
    if (i < own.size()) {
      if (value.dtype && *value.dtype != own[i].dtype()) {
        return fail(ErrorCode::kInvalidArgument, "the subgraph's input '{}' is {}, but gets {}",
                    name, to_string(*value.dtype), to_string(own[i].type()));
      }
      inputs.emplace(name, std::move(own[i]));
      continue;
    }
    const OpInput& outer = call.inputs[static_cast<size_t>(graph.captures[i - own.size()])];
    if (!outer.value) {
      return fail(ErrorCode::kUnavailable, "a value from outside the subgraph is not known yet");
    }
    inputs.emplace(name, *outer.value);
  }
  return run_graph(graph, inputs);
}

Result<bool> truth_of(const Tensor& tensor, std::string_view what) {
  if (tensor.dtype() != DType::kBool || tensor.elements() != 1) {
    return fail(ErrorCode::kInvalidArgument, "{} must be a single truth value, not {}", what,
                to_string(tensor.type()));
  }
  return *tensor.data<bool>();
}

Status TripStack::add(const Tensor& row) {
  if (rows_ == 0) row_ = row.type();
  if (row.type() != row_) {
    return fail(ErrorCode::kInvalidArgument,
                "a graph gives {} for one trip and {} for another, which cannot be stacked",
                to_string(row_), to_string(row.type()));
  }
  const size_t bytes = row.bytes();
  if (rows_ == room_) {
    room_ = std::max<int64_t>(1, 2 * room_);
    Shape shape = row_.shape;
    shape.insert(shape.begin(), room_);
    CLVET_ASSIGN_OR_RETURN(Tensor larger, Tensor::create(row_.dtype, std::move(shape)));
    if (bytes && rows_) std::memcpy(larger.raw(), data_.raw(), static_cast<size_t>(rows_) * bytes);
    data_ = std::move(larger);
  }
  if (bytes) std::memcpy(data_.raw() + static_cast<size_t>(rows_) * bytes, row.raw(), bytes);
  ++rows_;
  return {};
}

Result<Tensor> TripStack::all(const Value& declared) const {
  Shape shape = row_.shape;
  if (rows_ == 0) {
    shape = declared.shape.value_or(Shape{});
    for (int64_t& extent : shape) extent = std::max<int64_t>(0, extent);
  }
  shape.insert(shape.begin(), rows_);
  if (rows_ > 0 && rows_ == room_) return data_;
  CLVET_ASSIGN_OR_RETURN(
      Tensor out,
      Tensor::create(rows_ ? row_.dtype : declared.dtype.value_or(DType::kF32), std::move(shape)));
  if (out.bytes()) std::memcpy(out.raw(), data_.raw(), out.bytes());
  return out;
}

}  // namespace clvet
