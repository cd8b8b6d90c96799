#include "runtime/precision/emulation.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {

Result<Tensor> rounded(const Tensor& tensor, NumberFormat format) {
  if (tensor.dtype() != DType::kF32 || format == NumberFormat::kFloat) return tensor;
  CLVET_ASSIGN_OR_RETURN(Tensor copy, Tensor::create(DType::kF32, tensor.shape()));
  const auto count = static_cast<size_t>(tensor.elements());
  std::copy_n(tensor.data<float>(), count, copy.data<float>());
  round_to(format, {copy.data<float>(), count});
  return copy;
}

Deviation deviation_of(std::span<const Tensor> outputs, std::span<const Tensor> reference) {
  Deviation deviation;
  for (size_t i = 0; i < outputs.size() && i < reference.size(); ++i) {
    if (outputs[i].dtype() == DType::kF32 && reference[i].dtype() == DType::kF32)
      deviation.add(outputs[i].values<float>(), reference[i].values<float>());
  }
  return deviation;
}

std::vector<Tensor> values_of(const Graph& graph, const std::map<std::string, Tensor>& inputs) {
  std::vector<Tensor> values(graph.values.size());
  for (const ValueId id : graph.inputs) {
    const auto found = inputs.find(graph.values[static_cast<size_t>(id)].name);
    if (found != inputs.end()) values[static_cast<size_t>(id)] = found->second;
  }
  return values;
}

std::map<std::string, Tensor> outputs_of(const Graph& graph, std::span<const Tensor> values) {
  std::map<std::string, Tensor> outputs;
  for (const ValueId id : graph.outputs) {
    const Tensor* constant = graph.constant(id);
    outputs[graph.values[static_cast<size_t>(id)].name] =
        constant ? *constant : values[static_cast<size_t>(id)];
  }
  return outputs;
}

Readers::Readers(const Graph& graph) : left_(graph.values.size(), 0) {
  for (const Node& node : graph.nodes) {
    for (const ValueId in : node.inputs) {
      if (in != kNoValue) ++left_[static_cast<size_t>(in)];
    }
  }
  for (const ValueId out : graph.outputs) ++left_[static_cast<size_t>(out)];
}

Emulation::Emulation(const Graph& graph, EmulationRules rules)
    : graph_(graph), rules_(rules), rounded_(graph.values.size()) {
  for (size_t i = 0; i < graph.values.size(); ++i) {
    const auto& constant = graph.values[i].constant;
    if (!constant || constant->dtype() != DType::kF32) continue;
    if (rules.float_vectors && constant->rank() == 1) continue;
    rounded_[i] = rounded(*constant, rules.format).value_or(*constant);
  }
}

const Tensor* Emulation::constant(ValueId id, size_t index, const Rounded& rounded) const {
  const Tensor* exact = graph_.constant(id);
  const Tensor& stored = rounded_[static_cast<size_t>(id)];
  return exact && rounded.rounds_constant(static_cast<int>(index)) && stored.type() == exact->type()
             ? &stored
             : exact;
}

Result<std::vector<Tensor>> Emulation::run(size_t node, std::span<const Tensor> values,
                                           const Rounded& how) const {
  const Node& row = graph_.nodes[node];
  std::vector<Tensor> own(row.inputs.size());
  std::vector<const Tensor*> arguments;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const ValueId in = row.inputs[i];
    const Tensor* argument = in == kNoValue ? nullptr : constant(in, i, how);
    if (in != kNoValue && !argument) {
      argument = &values[static_cast<size_t>(in)];
      if (how.rounds_input(static_cast<int>(i))) {
        CLVET_ASSIGN_OR_RETURN(own[i], rounded(*argument, rules_.format));
        argument = &own[i];
      }
    }
    arguments.push_back(argument);
  }
  auto outputs = run_node(row, arguments);
  if (!outputs) return at_node(outputs.error(), row);
  for (Tensor& output : *outputs) {
    if (!how.outputs) break;
    CLVET_ASSIGN_OR_RETURN(output, rounded(output, rules_.format));
  }
  return outputs;
}

Result<std::map<std::string, Tensor>> Emulation::run(const std::map<std::string, Tensor>& inputs,
                                                     const Raised& raised) const {
  std::vector<Tensor> values = values_of(graph_, inputs);
  Readers readers(graph_);
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    const Node& node = graph_.nodes[n];
    CLVET_ASSIGN_OR_RETURN(auto outputs,
                           run(n, values, raised[n] ? Rounded::nothing() : Rounded()));
    readers.done(node, [&](size_t value) { values[value] = Tensor(); });
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId out = node.outputs[i];
      if (out != kNoValue && readers.read(out))
        values[static_cast<size_t>(out)] = std::move(outputs[i]);
    }
  }
  return outputs_of(graph_, values);
}

}  // namespace clvet
