#include "runtime/precision/beside_double.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
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

namespace clvet {
namespace {

using Outputs = std::vector<Tensor>;

Result<Tensor> converted(const Tensor& tensor, DType from, DType to) {
  return tensor.dtype() == from ? tensor.cast(to) : Result<Tensor>(tensor);
}

Result<Outputs> converted(Outputs tensors, DType from, DType to) {
  for (Tensor& tensor : tensors) {
    CLVET_ASSIGN_OR_RETURN(tensor, converted(tensor, from, to));
  }
  return tensors;
}

// Sums over several tensors.
class Comparison {
 public:
  void add(const Tensor& single, const Tensor& exact) {
    if (single.dtype() != DType::kF32 || exact.dtype() != DType::kF64) return;
    const auto values = single.values<float>();
    const auto wanted = exact.values<double>();
    for (size_t i = 0; i < std::min(values.size(), wanted.size()); ++i) add(values[i], wanted[i]);
  }
  BesideDouble found() const {
    const double part = squares_ == 0 ? 0 : std::sqrt(squares_ / reference_);
    return {lost_ ? std::numeric_limits<double>::infinity() : part, finite_};
  }

 private:
  void add(float value, double wanted) {
    const bool finite = std::isfinite(value);
    finite_ &= finite;
    if (!std::isfinite(wanted)) return;
    lost_ |= !finite;
    if (!finite) return;
    squares_ += (value - wanted) * (value - wanted);
    reference_ += wanted * wanted;
  }

  double squares_ = 0, reference_ = 0;
  bool lost_ = false, finite_ = true;
};

class DoubleRun {
 public:
  DoubleRun(const Graph& graph, const std::map<std::string, Tensor>& inputs)
      : graph_(graph), single_(graph, inputs), double_(graph, inputs) {}

  Result<BesideDoubleRun> run() {
    BesideDoubleRun found;
    for (const Node& node : graph_.nodes) {
      CLVET_ASSIGN_OR_RETURN(BesideDouble row, step(node));
      found.nodes.push_back(row);
    }
    const auto exact = double_.outputs();
    for (const auto& [name, single] : single_.outputs()) {
      Comparison comparison;
      comparison.add(single, exact.at(name));
      found.outputs[name] = comparison.found();
    }
    return found;
  }

 private:
  Result<BesideDouble> step(const Node& node) {
    CLVET_ASSIGN_OR_RETURN(Outputs single, in_single(node, single_.all()));
    CLVET_ASSIGN_OR_RETURN(Outputs exact, in_double(node));
    Comparison comparison;
    for (size_t i = 0; i < single.size(); ++i) comparison.add(single[i], exact[i]);
    single_.take(node, std::move(single));
    double_.take(node, std::move(exact));
    return comparison.found();
  }

  Result<Outputs> in_double(const Node& node) const {
    CLVET_ASSIGN_OR_RETURN(const Outputs inputs, inputs_of(node, DType::kF32, DType::kF64));
    auto outputs = computed(node, inputs);
    if (!outputs) {
      CLVET_ASSIGN_OR_RETURN(const Outputs rounded, inputs_of(node, DType::kF64, DType::kF32));
      outputs = computed(node, rounded);
    }
    if (!outputs) return at_node(outputs.error(), node);
    return converted(std::move(*outputs), DType::kF32, DType::kF64);
  }

  Result<Outputs> in_single(const Node& node, std::span<const Tensor> values) const {
    Outputs inputs(node.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (node.inputs[i] != kNoValue) inputs[i] = values[static_cast<size_t>(node.inputs[i])];
    auto outputs = computed(node, inputs);
    if (!outputs) return at_node(outputs.error(), node);
    return outputs;
  }

  Result<Outputs> inputs_of(const Node& node, DType from, DType to) const {
    Outputs inputs(node.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (node.inputs[i] == kNoValue) continue;
      const Tensor& value = double_.all()[static_cast<size_t>(node.inputs[i])];
      CLVET_ASSIGN_OR_RETURN(inputs[i], converted(value, from, to));
    }
    return inputs;
  }

  static Result<Outputs> computed(const Node& node, std::span<const Tensor> inputs) {
    std::vector<const Tensor*> arguments;
    for (size_t i = 0; i < inputs.size(); ++i)
      arguments.push_back(node.inputs[i] == kNoValue ? nullptr : &inputs[i]);
    return run_node(node, arguments);
  }

  const Graph& graph_;
  LiveValues single_, double_;
};

}  // namespace

Result<BesideDoubleRun> run_beside_double(const Graph& graph,
                                          const std::map<std::string, Tensor>& inputs) {
  return DoubleRun(graph, inputs).run();
}

}  // namespace clvet
