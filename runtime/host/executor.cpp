#include "runtime/host/executor.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {
namespace {

// How often each value is still read; a graph output counts once more.
std::vector<int> count_reads(const Graph& graph) {
  std::vector<int> reads(graph.values.size(), 0);
  for (const Node& node : graph.nodes) {
    for (const ValueId in : node.inputs) {
      if (in != kNoValue) ++reads[in];
    }
  }
  for (const ValueId out : graph.outputs) ++reads[out];
  return reads;
}

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

// The constants and the inputs, by value of the graph.
std::vector<Tensor> known_values(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  std::vector<Tensor> values(graph.values.size());
  for (size_t v = 0; v < values.size(); ++v) {
    if (graph.values[v].constant) values[v] = *graph.values[v].constant;
  }
  for (const ValueId id : graph.inputs) {
    if (const auto found = inputs.find(graph.values[id].name); found != inputs.end()) {
      values[id] = found->second;
    }
  }
  return values;
}

// Takes the node's outputs in, and lets go of what is not read again.
void update_values(const Node& node, std::vector<Tensor> outputs, std::vector<int>& reads,
                   std::vector<Tensor>& values) {
  for (const ValueId in : node.inputs) {
    if (in != kNoValue && --reads[in] == 0) values[in] = Tensor();
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId out = node.outputs[i];
    if (out != kNoValue && reads[out] > 0) values[out] = std::move(outputs[i]);
  }
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
  std::vector<Tensor> values = known_values(graph, inputs);
  std::vector<int> reads = count_reads(graph);
  std::vector<const Tensor*> arguments;
  for (const Node& node : graph.nodes) {
    arguments.clear();
    for (const ValueId in : node.inputs) {
      arguments.push_back(in == kNoValue ? nullptr : &values[in]);
    }
    const double start = monotonic_seconds();
    auto outputs = run_node(node, arguments);
    if (!outputs) return at_node(outputs.error(), node);
    if (timings) timings->push_back({node.name, node.op, ms_since(start)});
    if (observer) observer(node, *outputs);
    update_values(node, std::move(*outputs), reads, values);
  }
  std::vector<Tensor> results;
  for (const ValueId id : graph.outputs) results.push_back(values[id]);
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
