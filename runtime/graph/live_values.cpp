#include "runtime/graph/live_values.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

size_t at(ValueId id) { return static_cast<size_t>(id); }

}  // namespace

std::map<std::string, Tensor> outputs_of(const Graph& graph, std::span<const Tensor> values) {
  std::map<std::string, Tensor> outputs;
  for (const ValueId id : graph.outputs) {
    const Tensor* constant = graph.constant(id);
    outputs[graph.values[at(id)].name] = constant ? *constant : values[at(id)];
  }
  return outputs;
}

LiveValues::LiveValues(const Graph& graph, const std::map<std::string, Tensor>& inputs)
    : graph_(graph), values_(graph.values.size()), reads_(graph.values.size(), 0) {
  for (size_t v = 0; v < values_.size(); ++v) {
    if (graph.values[v].constant) values_[v] = *graph.values[v].constant;
  }
  for (const ValueId id : graph.inputs) {
    const auto found = inputs.find(graph.values[at(id)].name);
    if (found != inputs.end()) values_[at(id)] = found->second;
  }
  for (const Node& node : graph.nodes) {
    for (const ValueId in : node.inputs) {
      if (in != kNoValue) ++reads_[at(in)];
    }
  }
  for (const ValueId out : graph.outputs) ++reads_[at(out)];
}

void LiveValues::take(const Node& node, std::vector<Tensor> outputs) {
  for (const ValueId in : node.inputs) {
    if (in != kNoValue && --reads_[at(in)] == 0) values_[at(in)] = Tensor();
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const ValueId out = node.outputs[i];
    if (out != kNoValue && reads_[at(out)] > 0) values_[at(out)] = std::move(outputs[i]);
  }
}

}  // namespace clvet
