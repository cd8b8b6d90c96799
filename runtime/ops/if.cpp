// If: runs one of two subgraphs, whose captured values are the node's inputs after the condition.
#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/executor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_if {
namespace {

Result<const Graph*> branch_of(const OpCall& call) {
  if (!call.inputs[0].value) return fail(ErrorCode::kUnavailable, "the condition is not known yet");
  if (call.inputs[0].value->elements() != 1) {
    return fail(ErrorCode::kInvalidArgument, "If's condition must be a single value, not {}",
                to_string(call.shape(0)));
  }
  const char* branch = *call.inputs[0].value->data<bool>() ? "then_branch" : "else_branch";
  const Graph* graph = call.node.graph_attr(branch);
  if (!graph || graph->outputs.size() != call.node.outputs.size()) {
    return fail(ErrorCode::kInvalidArgument, "If has no {} with as many outputs as the node",
                branch);
  }
  return graph;
}

Result<std::vector<Tensor>> run(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Graph* graph, branch_of(call));
  std::map<std::string, Tensor> inputs;
  for (size_t i = 0; i < graph->inputs.size(); ++i) {
    const auto slot = static_cast<size_t>(graph->captures[i]);
    if (!call.inputs[slot].value) {
      return fail(ErrorCode::kUnavailable, "a value from outside the subgraph is not known yet");
    }
    inputs.emplace(graph->values[graph->inputs[i]].name, *call.inputs[slot].value);
  }
  return run_graph(*graph, inputs);
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, run(call));
  Types types;
  for (const Tensor& tensor : outputs) types.push_back(tensor.type());
  return types;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(outputs, run(call));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"If"},
    .inputs = "b **",
    .attributes = "then_branch:g else_branch:g",
    .max_outputs = 4096,
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_if
