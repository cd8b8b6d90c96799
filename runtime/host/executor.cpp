#include "runtime/host/executor.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/live_values.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {
namespace {

bool fits(const Shape& wanted, const Shape& given) {
  if (wanted.size() != given.size()) return false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i] >= 0 && wanted[i] != given[i]) return false;
  }
  return true;
}

Status check_input(const Value& wanted, const Tensor& given) {
  if (wanted.dtype && *wanted.dtype != given.dtype()) {
    return fail(ErrorCode::kInvalidArgument, "input '{}' is {}, but the model takes {}",
                wanted.name, to_string(given.dtype()), to_string(*wanted.dtype));
  }
  if (wanted.shape && !fits(*wanted.shape, given.shape())) {
    return fail(ErrorCode::kInvalidArgument, "input '{}' is {}, but the model takes {}",
                wanted.name, to_string(given.shape()), to_string(*wanted.shape));
  }
  return {};
}

}  // namespace

Status check_inputs(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    const auto found = inputs.find(value.name);
    if (found == inputs.end()) {
      return fail(ErrorCode::kInvalidArgument, "the model's input '{}' was not given", value.name);
    }
    CLVET_RETURN_IF_ERROR(check_input(value, found->second));
  }
  for (const auto& [name, tensor] : inputs) {
    bool known = false;
    for (const ValueId id : graph.inputs) known |= graph.values[id].name == name;
    if (!known) {
      return fail(ErrorCode::kInvalidArgument,
                  "the model has no input '{}'; its first input is '{}'", name,
                  graph.inputs.empty() ? "" : graph.values[graph.inputs[0]].name);
    }
  }
  return {};
}

Result<std::vector<Tensor>> run_graph(const Graph& graph,
                                      const std::map<std::string, Tensor>& inputs,
                                      std::vector<NodeTiming>* timings,
                                      const NodeObserver& observer) {
  LiveValues values(graph, inputs);
  std::vector<const Tensor*> arguments;
  for (const Node& node : graph.nodes) {
    arguments.clear();
    for (const ValueId in : node.inputs) {
      arguments.push_back(in == kNoValue ? nullptr : &values.all()[in]);
    }
    const double start = monotonic_seconds();
    auto outputs = run_node(node, arguments);
    if (!outputs) return at_node(outputs.error(), node);
    if (timings) timings->push_back({node.name, node.op, ms_since(start)});
    if (observer) observer(node, *outputs);
    values.take(node, std::move(*outputs));
  }
  std::vector<Tensor> results;
  for (const ValueId id : graph.outputs) results.push_back(values.all()[id]);
  return results;
}

Result<HostExecutor::Run> HostExecutor::run(const std::map<std::string, Tensor>& inputs,
                                            const NodeObserver& observer) const {
  CLVET_RETURN_IF_ERROR(check_inputs(graph_, inputs));
  Run run;
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> outputs,
                         run_graph(graph_, inputs, &run.nodes, observer));
  for (size_t i = 0; i < outputs.size(); ++i) {
    run.outputs[graph_.values[graph_.outputs[i]].name] = std::move(outputs[i]);
  }
  return run;
}

}  // namespace clvet
