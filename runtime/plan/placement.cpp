// The half of the builder that brings values where a kernel wants them.
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/view.h"
#include "runtime/plan/builder.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.h"

namespace clvet {

size_t device_bytes(const DeviceTensor& tensor) {
  if (tensor.role.kind != TensorKind::kIndices) {
    return activation_bytes(tensor.role, tensor.precision);
  }
  return static_cast<size_t>(tensor.role.elements()) * sizeof(int32_t);
}

TensorRole activation_role(const Nhwc& extent) {
  TensorRole role;
  role.n = extent.n;
  role.h = extent.h;
  role.w = extent.w;
  role.c = extent.c;
  return role;
}

Status PlanBuilder::bring_to_host(ValueId value) {
  if (on_host_[static_cast<size_t>(value)]) return {};
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    if (plan_.tensors[i].value != value) continue;
    PlanStep step;
    step.kind = StepKind::kDownload;
    step.tensor = static_cast<int>(i);
    plan_.estimated_ms += transfer_ms(plan_.tensors[i]);
    plan_.steps.push_back(std::move(step));
    on_host_[static_cast<size_t>(value)] = true;
    return {};
  }
  return fail(ErrorCode::kInternal, "no step makes '{}'",
              graph_.values[static_cast<size_t>(value)].name);
}

int PlanBuilder::add_tensor(DeviceTensor tensor) {
  tensor.precision = stores_half(tensor.precision) ? Precision::kNormal : Precision::kHigh;
  plan_.tensors.push_back(std::move(tensor));
  return static_cast<int>(plan_.tensors.size()) - 1;
}

bool PlanBuilder::fits(const DeviceTensor& tensor, const Wanted& wanted) {
  return tensor.storage == wanted.storage && stores_half(tensor.precision) == wanted.half &&
         same_bytes(tensor.role, wanted.role, wanted.storage) &&
         same_order(padded_shape(tensor.shape, wanted.rank),
                    padded_view(tensor.view, tensor.shape.size(), wanted.rank), wanted.view);
}

int PlanBuilder::find_tensor(ValueId value, const Wanted& wanted) const {
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    if (plan_.tensors[i].value == value && fits(plan_.tensors[i], wanted)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

Result<int> PlanBuilder::want_value(ValueId value, const Wanted& wanted) {
  if (const int found = find_tensor(value, wanted); found >= 0) return found;
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    if (plan_.tensors[i].value != value || plan_.tensors[i].constant) continue;
    if (const int made = convert(static_cast<int>(i), wanted); made >= 0) return made;
  }
  CLVET_RETURN_IF_ERROR(bring_to_host(value));
  DeviceTensor tensor;
  tensor.value = value;
  tensor.shape = *graph_.values[static_cast<size_t>(value)].shape;
  tensor.role = wanted.role;
  tensor.view = wanted.view;
  tensor.storage = wanted.storage;
  tensor.precision = wanted.half ? Precision::kNormal : Precision::kHigh;
  tensor.shape = padded_shape(tensor.shape, wanted.rank);
  return add_upload(std::move(tensor));
}

Result<int> PlanBuilder::want_indices(ValueId value, const TensorRole& role) {
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    const DeviceTensor& tensor = plan_.tensors[i];
    const bool indices = tensor.role.kind == TensorKind::kIndices;
    // Tables of other lengths have other bounds.
    if (tensor.value == value && indices && tensor.role.extent == role.extent) {
      return static_cast<int>(i);
    }
  }
  CLVET_RETURN_IF_ERROR(bring_to_host(value));
  DeviceTensor tensor;
  tensor.value = value;
  tensor.shape = *graph_.values[static_cast<size_t>(value)].shape;
  tensor.role = role;
  tensor.view = View::kChannelsLast;
  return add_upload(std::move(tensor));
}

int PlanBuilder::add_upload(DeviceTensor tensor) {
  tensor.constant = graph_.constant(tensor.value) != nullptr;
  const int added = add_tensor(std::move(tensor));
  PlanStep step;
  step.kind = StepKind::kUpload;
  step.tensor = added;
  plan_.steps.push_back(std::move(step));
  if (!tensor_at(added).constant) plan_.estimated_ms += transfer_ms(tensor_at(added));
  return added;
}

int PlanBuilder::convert(int source, const Wanted& wanted) {
  if (fits(tensor_at(source), wanted)) return source;
  if (stores_half(tensor_at(source).precision) != wanted.half) return -1;
  Wanted here = wanted;
  here.storage = tensor_at(source).storage;
  const int ordered = change_order(source, here);
  return ordered < 0 || here.storage == wanted.storage ? ordered : change_storage(ordered, wanted);
}

int PlanBuilder::change_order(int source, const Wanted& wanted) {
  const DeviceTensor& from = tensor_at(source);
  if (fits(from, wanted)) return source;
  const Shape shape = padded_shape(from.shape, wanted.rank);
  auto lowered =
      change_view(shape, padded_view(from.view, from.shape.size(), wanted.rank), wanted.view);
  if (!lowered) return -1;
  put_nhwc({from.role.n, from.role.h, from.role.w, from.role.c}, lowered->dims);
  lowered->dims["ON"] = wanted.role.n;
  lowered->dims["OH"] = wanted.role.h;
  lowered->dims["OW"] = wanted.role.w;
  Combination combination = plan_.combination;
  combination.precision = wanted.half ? Precision::kNormal : Precision::kHigh;
  combination.activations = wanted.storage;
  std::string reason;
  auto chosen = chooser_.choose("move", lowered->dims, {}, combination, reason);
  if (!chosen || chosen->variant.activations != wanted.storage) return -1;
  return add_conversion(source, wanted, std::move(*chosen));
}

int PlanBuilder::change_storage(int source, const Wanted& wanted) {
  const char* op = wanted.storage == Storage::kImage ? "copy_buffer_image" : "copy_image_buffer";
  Dims dims;
  put_nhwc({wanted.role.n, wanted.role.h, wanted.role.w, wanted.role.c}, dims);
  Combination combination = plan_.combination;
  combination.precision = wanted.half ? Precision::kNormal : Precision::kHigh;
  combination.activations = Storage::kImage;  // what the copies' manifests call themselves
  std::string reason;
  auto chosen = chooser_.choose(op, dims, {}, combination, reason);
  return chosen ? add_conversion(source, wanted, std::move(*chosen)) : -1;
}

int PlanBuilder::add_conversion(int source, const Wanted& wanted, ChosenVariant chosen) {
  if (stores_half(chosen.variant.precision) != wanted.half) return -1;
  DeviceTensor to = tensor_at(source);
  to.shape = padded_shape(to.shape, wanted.rank);
  to.role = wanted.role;
  to.view = wanted.view;
  to.storage = wanted.storage;
  to.alias = -1;
  const int target = add_tensor(std::move(to));
  PlanStep step;
  step.kind = StepKind::kKernel;
  step.call = std::move(chosen.call);
  step.program = program_index(chosen.program);
  for (const CallArg& arg : step.call.args) {
    PlanStep::Object object;
    if (arg.kind == ArgKind::kInput) object.tensor = source;
    if (arg.kind == ArgKind::kOutput) object.tensor = target;
    step.objects.push_back(object);
  }
  plan_.estimated_ms +=
      kernel_ms(0, 0, activation_bytes(wanted.role, tensor_at(target).precision) * 2);
  plan_.steps.push_back(std::move(step));
  return target;
}

}  // namespace clvet
