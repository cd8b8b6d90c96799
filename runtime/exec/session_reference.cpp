// Session::right_by_reference: a kernel's result beside the float64 reference of its call.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "kernels/tolerance.h"
#include "kernels/weight_levels.h"
#include "runtime/exec/device.h"
#include "runtime/exec/session.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

// Products that a reference may take: about a second.
constexpr double kMostProducts = 1 << 28;

// Terms of all sums, where each output of an op without weights may read all inputs' columns.
double products_of(const std::vector<TensorRole>& roles) {
  double outputs = 0, terms = 1;
  for (const TensorRole& role : roles) {
    if (role.kind == TensorKind::kOutput) {
      outputs += static_cast<double>(role.elements());
    } else if (role.kind == TensorKind::kWeights) {
      terms = std::max(terms, static_cast<double>(role.taps * role.cin));
    } else {
      terms = std::max(terms, static_cast<double>(std::max(role.c, role.h * role.w)));
    }
  }
  return outputs * terms;
}

Values weights_read(const Variant& variant, const TensorRole& role, const Values& values) {
  const auto levels =
      variant.weight_type == WeightType::kFloat ? std::nullopt : levels_of(values, role.cout);
  return levels ? effective_levels(role, variant.precision, values, *levels)
                : effective_weights(role, variant.precision, WeightType::kFloat, values);
}

}  // namespace

Result<Values> Session::held_by(const DeviceTensor& tensor, cl_mem object, const TensorRole& role) {
  if (tensor.row_numbers > 0) {
    std::vector<int32_t> numbers(static_cast<size_t>(role.elements()));
    CLVET_RETURN_IF_ERROR(device_->read(object, std::as_writable_bytes(std::span(numbers))));
    return Values(numbers.begin(), numbers.end());
  }
  const Precision precision = storage_precision(tensor.half);
  Bytes bytes(activation_bytes(role, precision));
  CLVET_RETURN_IF_ERROR(tensor.storage == Storage::kImage
                            ? device_->read_image(object, activation_extent(role), bytes)
                            : device_->read(object, bytes));
  return decode_activation(role, precision, bytes, nullptr);
}

Result<Values> Session::read_by(const PlanStep& step, const Variant& variant,
                                const TensorRole& role) {
  if (const auto tensor = step.tensors.find(role.name); tensor != step.tensors.end()) {
    const auto at = static_cast<size_t>(tensor->second);
    return held_by(plan_.tensors[at], tensors_[at].object, role);
  }
  const auto constant = step.constants.find(role.name);
  if (constant == step.constants.end()) return Values(static_cast<size_t>(role.elements()), 0.0);
  CLVET_ASSIGN_OR_RETURN(Values values,
                         values_of(plan_.constants[static_cast<size_t>(constant->second)], role));
  if (role.kind == TensorKind::kWeights) return weights_read(variant, role, values);
  for (double& value : values) value = static_cast<float>(value);
  return values;
}

bool Session::right_by_reference(size_t index) {
  const PlanStep& step = phase().steps[index];
  // What earlier steps of the node left for this one may be wrong itself.
  const auto calls = std::ranges::count_if(phase().steps, [&](const PlanStep& other) {
    return other.kind == StepKind::kKernel && other.node == step.node;
  });
  const OpContract* contract = find_op_contract(step.op);
  if (step.node < 0 || calls != 1 || !contract) return false;
  const auto roles = contract->roles(step.dims);
  if (!roles || products_of(*roles) > kMostProducts) return false;
  const Variant& variant = ready_[index].row->variant;
  CallValues call{step.dims, step.scalars, {}};
  Values got;
  for (const TensorRole& role : *roles) {
    auto values = read_by(step, variant, role);
    if (!values) return false;
    if (role.kind == TensorKind::kOutput) {
      got.insert(got.end(), values->begin(), values->end());
    } else {
      call.tensors[role.name] = std::move(*values);
    }
  }
  return compare(contract->reference(call), got, variant.precision).right;
}

}  // namespace clvet
