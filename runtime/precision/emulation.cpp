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
  LiveValues values(graph_, inputs);
  for (size_t n = 0; n < graph_.nodes.size(); ++n) {
    CLVET_ASSIGN_OR_RETURN(auto outputs,
                           run(n, values.all(), raised[n] ? Rounded::nothing() : Rounded()));
    values.take(graph_.nodes[n], std::move(outputs));
  }
  return values.outputs();
}

}  // namespace clvet
