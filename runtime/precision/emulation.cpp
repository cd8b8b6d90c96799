#include "runtime/precision/emulation.h"

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/live_values.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {

Result<Tensor> rounded(const Tensor& tensor, NumberFormat format) {
  if (tensor.dtype() != DType::kF32 || format == NumberFormat::kFloat) return tensor;
  CLVET_ASSIGN_OR_RETURN(Tensor copy, Tensor::create(DType::kF32, tensor.shape()));
  round_to(format, tensor.values<float>(),
           {copy.data<float>(), static_cast<size_t>(copy.elements())});
  return copy;
}

Status round_own(Tensor& tensor, NumberFormat format) {
  if (tensor.dtype() != DType::kF32 || !tensor.sole()) {
    CLVET_ASSIGN_OR_RETURN(tensor, rounded(tensor, format));
    return {};
  }
  round_to(format, {tensor.data<float>(), static_cast<size_t>(tensor.elements())});
  return {};
}

Deviation deviation_of(std::span<const Tensor> outputs, std::span<const Tensor> reference) {
  Deviation deviation;
  for (size_t i = 0; i < outputs.size() && i < reference.size(); ++i) {
    if (outputs[i].dtype() == DType::kF32 && reference[i].dtype() == DType::kF32)
      deviation.add(outputs[i].values<float>(), reference[i].values<float>());
  }
  return deviation;
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
                                           const Rounded& how,
                                           const std::vector<bool>& stored) const {
  const Node& row = graph_.nodes[node];
  std::vector<Tensor> own(row.inputs.size());
  std::vector<const Tensor*> arguments;
  for (size_t i = 0; i < row.inputs.size(); ++i) {
    const ValueId in = row.inputs[i];
    const Tensor* argument = in == kNoValue ? nullptr : constant(in, i, how);
    if (in != kNoValue && !argument) {
      argument = &values[static_cast<size_t>(in)];
      const bool held = !stored.empty() && stored[static_cast<size_t>(in)];
      if (!held && how.rounds_input(static_cast<int>(i))) {
        CLVET_ASSIGN_OR_RETURN(own[i], rounded(*argument, rules_.format));
        argument = &own[i];
      }
    }
    arguments.push_back(argument);
  }
  auto outputs = run_node(row, arguments);
  if (!outputs) return at_node(outputs.error(), row);
  own.clear();
  for (Tensor& output : *outputs) {
    if (how.outputs) CLVET_RETURN_IF_ERROR(round_own(output, rules_.format));
  }
  return outputs;
}

LowRun::LowRun(const Emulation& emulation, const std::map<std::string, Tensor>& inputs)
    : emulation_(emulation),
      values_(emulation.graph(), inputs),
      stored_(emulation.graph().values.size(), false) {}

Result<std::vector<Tensor>> LowRun::step(bool raised) {
  const Node& node = emulation_.graph().nodes[next_];
  CLVET_ASSIGN_OR_RETURN(
      auto outputs,
      emulation_.run(next_, values_.all(), raised ? Rounded::nothing() : Rounded(), stored_));
  for (const ValueId out : node.outputs)
    if (out != kNoValue) stored_[static_cast<size_t>(out)] = !raised;
  values_.take(node, outputs);
  ++next_;
  return outputs;
}

}  // namespace clvet
