// If: runs one of two subgraphs, whose captured values are the node's inputs after the condition.
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/subgraph.h"

namespace clvet::op_if {
namespace {

Result<const Graph*> branch_of(const OpCall& call, bool condition) {
  return subgraph_of(call, condition ? "then_branch" : "else_branch", 0, call.node.outputs.size());
}

Result<std::vector<Tensor>> run(const OpCall& call) {
  if (!call.inputs[0].value) return fail(ErrorCode::kUnavailable, "the condition is not known yet");
  CLVET_ASSIGN_OR_RETURN(const bool condition, truth_of(call.tensor(0), "If's condition"));
  CLVET_ASSIGN_OR_RETURN(const Graph* graph, branch_of(call, condition));
  return run_subgraph(call, *graph, {});
}

Result<Types> infer(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(branch_of(call, true).map([](const Graph*) {}));
  CLVET_RETURN_IF_ERROR(branch_of(call, false).map([](const Graph*) {}));
  CLVET_ASSIGN_OR_RETURN(const std::vector<Tensor> outputs, run(call));
  Types types;
  for (const Tensor& tensor : outputs) types.push_back(tensor.type());
  return types;
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
    .run = run,
};

}  // namespace clvet::op_if
