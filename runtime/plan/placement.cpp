// The half of the builder that brings values where a kernel wants them.
#include <cstddef>
#include <optional>
#include <utility>
#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "runtime/graph/graph.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/movement.h"
#include "runtime/plan/builder.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

// Of a copy: it has one, behind its input.
TensorRole output_of(const WantedCall& call) {
  return find_op_contract(call.op)->roles(call.dims)->back();
}

}  // namespace

Status PlanBuilder::bring_to_host(ValueId value) {
  if (on_host_[static_cast<size_t>(value)]) return {};
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    if (tensor_values_[i] != value) continue;
    PlanStep step;
    step.kind = StepKind::kDownload;
    step.tensor = static_cast<int>(i);
    add_step(std::move(step),
             chooser_.cost().download_ms(static_cast<double>(device_bytes(plan_.tensors[i]))));
    on_host_[static_cast<size_t>(value)] = true;
    return {};
  }
  return fail(ErrorCode::kInternal, "no step of the plan computes '{}'",
              graph_.values[static_cast<size_t>(value)].name);
}

int PlanBuilder::add_tensor(DeviceTensor tensor, ValueId value) {
  tensor.value = value == kNoValue ? "" : graph_.values[static_cast<size_t>(value)].name;
  plan_.tensors.push_back(std::move(tensor));
  tensor_values_.push_back(value);
  return static_cast<int>(plan_.tensors.size()) - 1;
}

bool PlanBuilder::fits(const DeviceTensor& tensor, const Wanted& wanted) {
  const TensorRole& role = wanted.role;
  return tensor.storage == wanted.storage && tensor.half == wanted.half &&
         same_bytes(tensor.extent, {role.n, role.h, role.w, role.c}, wanted.storage) &&
         same_order(padded_shape(tensor.shape, wanted.rank),
                    padded_view(tensor.view, tensor.shape.size(), wanted.rank), wanted.view);
}

int PlanBuilder::find_tensor(ValueId value, const Wanted& wanted) const {
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    const DeviceTensor& tensor = plan_.tensors[i];
    if (tensor_values_[i] == value && tensor.row_numbers == 0 && fits(tensor, wanted)) {
      return static_cast<int>(i);
    }
  }
  return -1;
}

Result<int> PlanBuilder::want_value(ValueId value, const Wanted& wanted) {
  if (const int found = find_tensor(value, wanted); found >= 0) return found;
  // What the host has is brought anew rather than cast: a half has lost what it was.
  const bool may_cast = !on_host_[static_cast<size_t>(value)];
  for (const bool casts : {false, true}) {
    for (size_t i = 0; i < plan_.tensors.size() && (may_cast || !casts); ++i) {
      const DeviceTensor& tensor = plan_.tensors[i];
      if (tensor_values_[i] != value || tensor.constant || tensor.row_numbers > 0) continue;
      if ((tensor.half != wanted.half) != casts) continue;
      if (const int made = convert(static_cast<int>(i), wanted); made >= 0) return made;
    }
  }
  CLVET_RETURN_IF_ERROR(bring_to_host(value));
  DeviceTensor tensor;
  tensor.shape = padded_shape(*graph_.values[static_cast<size_t>(value)].shape, wanted.rank);
  tensor.extent = {wanted.role.n, wanted.role.h, wanted.role.w, wanted.role.c};
  tensor.view = wanted.view;
  tensor.storage = wanted.storage;
  tensor.half = wanted.half;
  return add_upload(std::move(tensor), value);
}

Result<int> PlanBuilder::want_indices(ValueId value, const TensorRole& role) {
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    // Tables of other lengths have other bounds.
    if (tensor_values_[i] == value && plan_.tensors[i].row_numbers == role.extent) {
      return static_cast<int>(i);
    }
  }
  CLVET_RETURN_IF_ERROR(bring_to_host(value));
  DeviceTensor tensor;
  tensor.shape = *graph_.values[static_cast<size_t>(value)].shape;
  tensor.extent = {1, 1, 1, role.c};
  tensor.row_numbers = role.extent;
  tensor.view = View::kChannelsLast;
  return add_upload(std::move(tensor), value);
}

int PlanBuilder::add_upload(DeviceTensor tensor, ValueId value) {
  tensor.constant = graph_.constant(value) != nullptr;
  const auto bytes = static_cast<double>(device_bytes(tensor));
  const double ms = tensor.constant ? 0 : chooser_.cost().upload_ms(bytes);
  const int added = add_tensor(std::move(tensor), value);
  PlanStep step;
  step.kind = StepKind::kUpload;
  step.tensor = added;
  add_step(std::move(step), ms);
  return added;
}

int PlanBuilder::convert(int source, const Wanted& wanted) {
  if (fits(tensor_at(source), wanted)) return source;
  if (tensor_at(source).half != wanted.half) {
    source = change_number(source, wanted.half);
    if (source < 0 || fits(tensor_at(source), wanted)) return source;
  }
  Wanted here = wanted;
  here.storage = tensor_at(source).storage;
  const int ordered = change_order(source, here);
  return ordered < 0 || here.storage == wanted.storage ? ordered : change_storage(ordered, wanted);
}

// Copies have no weights; those between storages call themselves copies of images.
Combination PlanBuilder::copy_combination(bool half) const {
  return {storage_precision(half), plan_.combination.memory, Storage::kImage, std::nullopt};
}

std::string PlanBuilder::copy_op(Storage to) {
  return to == Storage::kImage ? "copy_buffer_image" : "copy_image_buffer";
}

Result<ChosenVariant> PlanBuilder::choose_copy(const WantedCall& wanted) const {
  if (!fixed_) return chooser_.choose(wanted);
  const auto& steps = fixed_->phases.front().steps;
  const size_t next = phase().steps.size();
  if (next >= steps.size() || steps[next].node >= 0 || steps[next].op != wanted.op) {
    return fail(ErrorCode::kInvalidArgument, "the plan has no copy before step {}", next);
  }
  return chooser_.choose_named(wanted, steps[next].variant);
}

int PlanBuilder::change_order(int source, const Wanted& wanted) {
  const DeviceTensor& from = tensor_at(source);
  if (fits(from, wanted)) return source;
  const Shape shape = padded_shape(from.shape, wanted.rank);
  auto lowered =
      change_view(shape, padded_view(from.view, from.shape.size(), wanted.rank), wanted.view);
  if (!lowered) return -1;
  put_nhwc(from.extent, lowered->dims);
  lowered->dims["ON"] = wanted.role.n;
  lowered->dims["OH"] = wanted.role.h;
  lowered->dims["OW"] = wanted.role.w;
  const std::string op = "move";
  const Scalars none;
  WantedCall call{op, lowered->dims, none, copy_combination(wanted.half)};
  call.combination.activations = wanted.storage;
  const auto chosen = choose_copy(call);
  if (!chosen || chosen->variant().activations != wanted.storage) return -1;
  return add_conversion(source, wanted, call, *chosen);
}

int PlanBuilder::change_storage(int source, const Wanted& wanted) {
  const std::string op = copy_op(wanted.storage);
  Dims dims;
  put_nhwc({wanted.role.n, wanted.role.h, wanted.role.w, wanted.role.c}, dims);
  const Scalars none;
  const WantedCall call{op, dims, none, copy_combination(wanted.half)};
  const auto chosen = choose_copy(call);
  return chosen ? add_conversion(source, wanted, call, *chosen) : -1;
}

int PlanBuilder::change_number(int source, bool half) {
  const DeviceTensor from = tensor_at(source);
  const TensorRole role = activation_role(from.extent);
  Wanted wanted{role, from.view, 0, Storage::kBuffer, from.half};
  if (from.storage == Storage::kImage) source = change_storage(source, wanted);
  if (source < 0) return -1;
  const std::string op = half ? "cast_float_half" : "cast_half_float";
  Dims dims;
  put_nhwc(from.extent, dims);
  const Scalars none;
  WantedCall call{op, dims, none, copy_combination(true)};
  call.combination.activations = Storage::kBuffer;
  const auto chosen = choose_copy(call);
  wanted.half = half;
  return chosen ? add_conversion(source, wanted, call, *chosen) : -1;
}

int PlanBuilder::add_conversion(int source, const Wanted& wanted, const WantedCall& call,
                                const ChosenVariant& chosen) {
  if (stores_half(stored_as(output_of(call), chosen.variant().precision)) != wanted.half) return -1;
  DeviceTensor to = tensor_at(source);
  to.half = wanted.half;
  to.shape = padded_shape(to.shape, wanted.rank);
  to.extent = {wanted.role.n, wanted.role.h, wanted.role.w, wanted.role.c};
  to.view = wanted.view;
  to.storage = wanted.storage;
  to.alias = -1;
  const int target = add_tensor(std::move(to), tensor_values_[static_cast<size_t>(source)]);
  PlanStep step;
  step.kind = StepKind::kKernel;
  step.variant = chosen.row->name;
  step.op = call.op;
  step.dims = call.dims;
  for (const CallArg& arg : chosen.call.args) {
    if (arg.kind == ArgKind::kInput) step.tensors[arg.name] = source;
    if (arg.kind == ArgKind::kOutput) step.tensors[arg.name] = target;
  }
  add_step(std::move(step), chosen.ms, chosen.launch_ms);
  return target;
}

}  // namespace clvet
