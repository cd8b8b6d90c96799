#include "runtime/precision/beside_double.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
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

Result<Outputs> computed(const Node& node, std::span<const Tensor> inputs) {
  std::vector<const Tensor*> arguments;
  for (size_t i = 0; i < inputs.size(); ++i)
    arguments.push_back(node.inputs[i] == kNoValue ? nullptr : &inputs[i]);
  return run_node(node, arguments);
}

// The values of a run, in float32 or in float64.
class Run {
 public:
  Run(const Graph& graph, const std::map<std::string, Tensor>& inputs) : values_(graph, inputs) {}

  Result<Outputs> in_single(const Node& node) const {
    auto outputs = computed(node, as_they_are(node));
    if (!outputs) return at_node(outputs.error(), node);
    return outputs;
  }

  Result<Outputs> in_double(const Node& node) const {
    auto outputs = computed_as(node, DType::kF32, DType::kF64);
    if (!outputs) outputs = computed_as(node, DType::kF64, DType::kF32);
    if (!outputs) return at_node(outputs.error(), node);
    return converted(std::move(*outputs), DType::kF32, DType::kF64);
  }

  void take(const Node& node, Outputs outputs) { values_.take(node, std::move(outputs)); }
  std::map<std::string, Tensor> outputs() const { return values_.outputs(); }

 private:
  Outputs as_they_are(const Node& node) const {
    Outputs inputs(node.inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i)
      if (node.inputs[i] != kNoValue)
        inputs[i] = values_.all()[static_cast<size_t>(node.inputs[i])];
    return inputs;
  }

  Result<Outputs> computed_as(const Node& node, DType from, DType to) const {
    // Refused without a copy of its weights.
    if (to == DType::kF64 && node.def && node.def->types == kSingleOnly)
      return fail(ErrorCode::kUnsupported, "{} has no float64 code", node.label());
    CLVET_ASSIGN_OR_RETURN(const Outputs inputs, converted(as_they_are(node), from, to));
    return computed(node, inputs);
  }

  // OpDef::types.
  static constexpr std::string_view kSingleOnly = "s";

  LiveValues values_;
};

Result<BesideDouble> step(const Node& node, Run& single, Run& exact) {
  CLVET_ASSIGN_OR_RETURN(Outputs values, single.in_single(node));
  CLVET_ASSIGN_OR_RETURN(Outputs wanted, exact.in_double(node));
  Comparison comparison;
  for (size_t i = 0; i < values.size(); ++i) comparison.add(values[i], wanted[i]);
  single.take(node, std::move(values));
  exact.take(node, std::move(wanted));
  return comparison.found();
}

}  // namespace

Result<std::map<std::string, Tensor>> run_in_double(const Graph& graph,
                                                    const std::map<std::string, Tensor>& inputs) {
  Run exact(graph, inputs);
  for (const Node& node : graph.nodes) {
    CLVET_ASSIGN_OR_RETURN(Outputs outputs, exact.in_double(node));
    exact.take(node, std::move(outputs));
  }
  return exact.outputs();
}

std::map<std::string, BesideDouble> compare_with_double(
    const std::map<std::string, Tensor>& single, const std::map<std::string, Tensor>& exact) {
  std::map<std::string, BesideDouble> rows;
  for (const auto& [name, values] : single) {
    Comparison comparison;
    if (const auto wanted = exact.find(name); wanted != exact.end())
      comparison.add(values, wanted->second);
    rows[name] = comparison.found();
  }
  return rows;
}

Result<BesideDoubleRun> run_beside_double(const Graph& graph,
                                          const std::map<std::string, Tensor>& inputs) {
  BesideDoubleRun found;
  Run single(graph, inputs), exact(graph, inputs);
  for (const Node& node : graph.nodes) {
    CLVET_ASSIGN_OR_RETURN(const BesideDouble row, step(node, single, exact));
    found.nodes.push_back(row);
  }
  found.outputs = compare_with_double(single.outputs(), exact.outputs());
  return found;
}

}  // namespace clvet
