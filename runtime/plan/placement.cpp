// The half of the builder that brings values where a kernel wants them.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
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

// A value that the host puts in the device's order, or takes out of it: measured from 1 ns (a
// desktop's core) to 4 ns (a board's).
constexpr double kHostMsAValue = 2e-6;

double host_order_ms(const DeviceTensor& tensor) {
  return kHostMsAValue * static_cast<double>(elements_of(tensor.shape));
}

// `tensor` in the host's order; nullopt where a device cannot hold it in that order.
std::optional<DeviceTensor> plain_form(const DeviceTensor& tensor) {
  const auto extent = view_of(tensor.shape, View::kChannelsLast);
  if (!extent || extent->c % 4 != 0 || elements_of(tensor.shape) == 0) return std::nullopt;
  DeviceTensor plain;
  plain.shape = tensor.shape;
  plain.extent = *extent;
  plain.view = View::kChannelsLast;
  plain.storage = Storage::kBuffer;
  return plain;
}

}  // namespace

PlanBuilder::Wanted PlanBuilder::wanted_as(const DeviceTensor& tensor) {
  return {activation_role(tensor.extent), tensor.view, tensor.shape.size(), tensor.storage,
          tensor.half};
}

void PlanBuilder::back_to(const Mark& mark) {
  plan_.tensors.resize(mark.tensors);
  tensor_values_.resize(mark.tensors);
  phase().steps.resize(mark.steps);
  phase().ms = mark.ms;
}

bool PlanBuilder::is_worth(const Mark& since, double more, double instead_of) const {
  if (fixed_) return true;
  for (size_t i = since.steps; i < phase().steps.size(); ++i) {
    const PlanStep& step = phase().steps[i];
    if (step.kind == StepKind::kKernel && !(step.ms > 0)) return false;
  }
  return phase().ms - since.ms + more < instead_of;
}

const DeviceTensor* PlanBuilder::fixed_tensor(const PlanStep& step, StepKind kind) const {
  const bool known = step.tensor >= 0 && static_cast<size_t>(step.tensor) < fixed_->tensors.size();
  return known && step.kind == kind ? &fixed_->tensors[static_cast<size_t>(step.tensor)] : nullptr;
}

bool PlanBuilder::uploads_plain() const {
  const auto& steps = fixed_->phases.front().steps;
  const size_t next = phase().steps.size();
  const DeviceTensor* tensor =
      next < steps.size() ? fixed_tensor(steps[next], StepKind::kUpload) : nullptr;
  return tensor && lies_as_on_host(*tensor);
}

bool PlanBuilder::downloads_plain(const std::string& value) const {
  const auto& steps = fixed_->phases.front().steps;
  for (size_t i = phase().steps.size(); i < steps.size(); ++i) {
    const DeviceTensor* tensor = fixed_tensor(steps[i], StepKind::kDownload);
    if (tensor && tensor->value == value) return lies_as_on_host(*tensor);
  }
  return false;
}

int PlanBuilder::bring_plain(ValueId value, const DeviceTensor& wanted) {
  const auto plain = plain_form(wanted);
  if (!plain || graph_.constant(value) || lies_as_on_host(wanted)) return -1;
  if (fixed_ && !uploads_plain()) return -1;
  const Mark before = mark();
  const auto bytes = static_cast<double>(device_bytes(wanted));
  const double by_host = chooser_.cost().upload_ms(bytes) + host_order_ms(wanted);
  const int made = convert(add_upload(*plain, value), wanted_as(wanted));
  if (made >= 0 && is_worth(before, 0, by_host)) return made;
  back_to(before);
  return -1;
}

int PlanBuilder::make_plain(int source) {
  const DeviceTensor& from = tensor_at(source);
  const auto plain = plain_form(from);
  if (!plain || lies_as_on_host(from)) return -1;
  if (fixed_ && !downloads_plain(from.value)) return -1;
  const auto download_ms = [&](const DeviceTensor& tensor) {
    return chooser_.cost().download_ms(static_cast<double>(device_bytes(tensor)));
  };
  const Mark before = mark();
  const double by_host = download_ms(from) + host_order_ms(from);
  const int made = convert(source, wanted_as(*plain));
  if (made >= 0 && is_worth(before, download_ms(*plain), by_host)) return made;
  back_to(before);
  return -1;
}

Status PlanBuilder::bring_to_host(ValueId value) {
  if (on_host_[static_cast<size_t>(value)]) return {};
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    if (tensor_values_[i] != value) continue;
    const int plain = make_plain(static_cast<int>(i));
    PlanStep step;
    step.kind = StepKind::kDownload;
    step.tensor = plain >= 0 ? plain : static_cast<int>(i);
    const auto bytes = static_cast<double>(device_bytes(tensor_at(step.tensor)));
    add_step(std::move(step), chooser_.cost().download_ms(bytes));
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
  if (const int made = bring_plain(value, tensor); made >= 0) return made;
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

std::optional<LoweredCall> PlanBuilder::order_call(const DeviceTensor& from, const Wanted& wanted) {
  const Shape shape = padded_shape(from.shape, wanted.rank);
  auto lowered =
      change_view(shape, padded_view(from.view, from.shape.size(), wanted.rank), wanted.view);
  if (!lowered) return std::nullopt;
  put_nhwc(from.extent, lowered->dims);
  lowered->dims["ON"] = wanted.role.n;
  lowered->dims["OH"] = wanted.role.h;
  lowered->dims["OW"] = wanted.role.w;
  return lowered;
}

double PlanBuilder::order_cost(ValueId value, const Wanted& wanted) const {
  const bool brought = std::ranges::count(tensor_values_, value) > 0;
  if (brought || graph_.constant(value) || !on_host_[static_cast<size_t>(value)]) return 0;
  DeviceTensor tensor;
  tensor.shape = padded_shape(*graph_.values[static_cast<size_t>(value)].shape, wanted.rank);
  tensor.extent = {wanted.role.n, wanted.role.h, wanted.role.w, wanted.role.c};
  tensor.view = wanted.view;
  if (lies_as_on_host(tensor)) return 0;
  const auto plain = plain_form(tensor);
  const auto moved = plain ? order_call(*plain, wanted) : std::nullopt;
  const double by_host = host_order_ms(tensor);
  if (!moved) return by_host;
  const Scalars none;
  WantedCall call{moved->op, moved->dims, none, copy_combination(wanted.half)};
  call.combination.activations = wanted.storage;
  const auto chosen = chooser_.choose(call);
  return chosen && chosen->ms > 0 ? std::min(chosen->ms + chosen->launch_ms, by_host) : by_host;
}

int PlanBuilder::change_order(int source, const Wanted& wanted) {
  const DeviceTensor& from = tensor_at(source);
  if (fits(from, wanted)) return source;
  const auto lowered = order_call(from, wanted);
  if (!lowered) return -1;
  const Scalars none;
  WantedCall call{lowered->op, lowered->dims, none, copy_combination(wanted.half)};
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
