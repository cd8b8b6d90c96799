#include "runtime/precision/graph_suspect.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {
namespace {

SeenValue seen(const Graph& graph, ValueId id, const Tensor& tensor, bool constant) {
  SeenValue value{graph.values[static_cast<size_t>(id)].name, {}, constant};
  if (tensor.dtype() == DType::kF32) value.values = tensor.values<float>();
  return value;
}

}  // namespace

GraphSuspect::GraphSuspect(const Emulation& emulation, size_t node, std::span<const Tensor> values,
                           std::span<const Tensor> exact)
    : emulation_(emulation), index_(node), values_(values), exact_(exact) {
  const Graph& graph = emulation.graph();
  for (const ValueId in : this->node().inputs) {
    if (in == kNoValue) {
      inputs_.emplace_back();
      continue;
    }
    const Tensor* constant = graph.constant(in);
    inputs_.push_back(seen(graph, in, constant ? *constant : values[static_cast<size_t>(in)],
                           constant != nullptr));
  }
  for (size_t i = 0; i < std::min(exact.size(), this->node().outputs.size()); ++i) {
    const ValueId out = this->node().outputs[i];
    outputs_.push_back(out == kNoValue ? SeenValue() : seen(graph, out, exact[i], false));
  }
}

bool GraphSuspect::adds() const {
  const std::string& op = node().op;
  return op == "Add" || op == "Sub" || op == "Sum";
}

Result<double> GraphSuspect::part(const Rounded& rounded) const {
  CLVET_ASSIGN_OR_RETURN(const auto outputs, emulation_.run(index_, values_, rounded));
  return deviation_of(outputs, exact_).part();
}

Result<double> GraphSuspect::part_of_small(int input) const {
  const ValueId in = node().inputs[static_cast<size_t>(input)];
  const auto exact = inputs_[static_cast<size_t>(input)].values;
  std::vector<Tensor> values(values_.begin(), values_.end());
  CLVET_ASSIGN_OR_RETURN(Tensor small,
                         Tensor::create(DType::kF32, values_[static_cast<size_t>(in)].shape()));
  std::ranges::copy(exact, small.data<float>());
  round_small(format(), {small.data<float>(), exact.size()});
  values[static_cast<size_t>(in)] = std::move(small);
  CLVET_ASSIGN_OR_RETURN(const auto outputs, emulation_.run(index_, values, Rounded::nothing()));
  return deviation_of(outputs, exact_).part();
}

}  // namespace clvet
