#include "runtime/exec/session.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/launch_batch.h"
#include "kernels/layout.h"
#include "kernels/weight_levels.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/live_values.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/cancel.h"
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/plan/launch.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

cl_channel_type channel_of(bool half) { return half ? CL_HALF_FLOAT : CL_FLOAT; }

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.type() != b.type()) return false;
  return a.raw() == b.raw() ||
         std::equal(a.raw(), a.raw() + static_cast<size_t>(a.elements()) * size_of(a.dtype()),
                    b.raw());
}

// Images and planes as the value has them: a kernel may count its rows otherwise.
TensorRole planes_of(const DeviceTensor& tensor) {
  return activation_role(*view_of(tensor.shape, tensor.view));
}

bool needs_transpose(const DeviceTensor& tensor) {
  return !same_order(tensor.shape, tensor.view, View::kChannelsLast);
}

void encode(const DeviceTensor& tensor, std::span<const float> values, Bytes& bytes) {
  const TensorRole role = role_of(tensor);
  const Precision precision = storage_precision(tensor.half);
  bytes.assign(activation_bytes(role, precision), std::byte{0});
  if (!needs_transpose(tensor)) {
    encode_activation_f32(role, precision, values, bytes);
  } else if (tensor.view == View::kChannelsFirst) {
    encode_planes_f32(planes_of(tensor), precision, values, bytes);
  } else {
    std::vector<float> ordered(values.size());
    to_device_order(values.data(), tensor.shape, tensor.view, ordered.data());
    encode_activation_f32(role, precision, ordered, bytes);
  }
}

Result<PackedWeights> packed_weights(const Variant& variant, const TensorRole& role,
                                     Storage storage, const Values& values) {
  const int64_t pack = variant.manifest->pack;
  if (variant.weight_type == WeightType::kFloat)
    return pack_weights(role, variant.precision, WeightType::kFloat, storage, pack, values);
  const auto levels = levels_of(values, role.cout);
  if (!levels) return fail(ErrorCode::kInternal, "the weights are not levels of 8 bits");
  return pack_levels(role, variant.precision, storage, pack, values, *levels);
}

cl_channel_type channel_of(const Variant& variant) {
  return variant.weight_type == WeightType::kFloat ? channel_of(stores_half(variant.precision))
                                                   : CL_UNSIGNED_INT16;
}

}  // namespace

Result<Session> Session::create(Graph graph, ExecutionPlan plan, Device* device) {
  Session session(std::move(graph), std::move(plan), device);
  const auto& steps = session.phase().steps;
  const bool kernels = std::any_of(steps.begin(), steps.end(), [](const PlanStep& step) {
    return step.kind == StepKind::kKernel;
  });
  if (kernels && !device)
    return fail(ErrorCode::kInternal, "the plan has kernels, but there is no device");
  CLVET_RETURN_IF_ERROR(session.allocate());
  CLVET_RETURN_IF_ERROR(session.prepare_steps());
  return session;
}

Status Session::allocate() {
  for (const int64_t bytes : plan_.slot_bytes) {
    CLVET_ASSIGN_OR_RETURN(ClMem slot, device_->buffer(static_cast<size_t>(bytes)));
    slots_.push_back(std::move(slot));
  }
  for (const DeviceTensor& tensor : plan_.tensors) {
    Memory memory;
    if (tensor.alias >= 0) {
      memory.object = tensors_[static_cast<size_t>(tensor.alias)].object;
    } else if (tensor.slot >= 0) {
      memory.object = slots_[static_cast<size_t>(tensor.slot)].get();
    } else if (tensor.storage == Storage::kBuffer) {
      CLVET_ASSIGN_OR_RETURN(memory.own, device_->buffer(device_bytes(tensor)));
    } else {
      CLVET_ASSIGN_OR_RETURN(
          memory.own, device_->image(activation_extent(role_of(tensor)), channel_of(tensor.half)));
    }
    if (memory.own) memory.object = memory.own.get();
    tensors_.push_back(std::move(memory));
    value_ids_.push_back(tensor.value.empty() ? kNoValue : graph_.find_value(tensor.value));
  }
  return upload_constants();
}

Status Session::upload_constants() {
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    if (!plan_.tensors[i].constant) continue;
    const Tensor* value = graph_.constant(value_ids_[i]);
    if (!value) return fail(ErrorCode::kInternal, "a constant tensor has no value");
    CLVET_RETURN_IF_ERROR(upload(plan_.tensors[i], tensors_[i].object, *value));
  }
  return {};
}

Result<Values> Session::values_of(const ConstantRecipe& recipe, const TensorRole& role) const {
  if (recipe.source != ConstantSource::kNode) {
    return Values(static_cast<size_t>(role.elements()), 0.0);
  }
  const Node& node = graph_.nodes[static_cast<size_t>(recipe.node)];
  const auto call = call_of(graph_, node);
  if (!call) return fail(ErrorCode::kInternal, "the shapes of node '{}' are not known", node.name);
  return node.def->constant(*call, {recipe.name, recipe.part});
}

Result<const Session::Weights*> Session::weights(int index, const Launch& launch,
                                                 const TensorRole& role, Storage storage) {
  if (const auto known = weights_.find(index); known != weights_.end()) return &known->second;
  const Variant& variant = launch.row->variant;
  CLVET_ASSIGN_OR_RETURN(const Values values,
                         values_of(plan_.constants[static_cast<size_t>(index)], role));
  CLVET_ASSIGN_OR_RETURN(const PackedWeights packed,
                         packed_weights(variant, role, storage, values));
  Weights made;
  if (storage == Storage::kImage) {
    CLVET_ASSIGN_OR_RETURN(made.data,
                           filled_image(*device_, packed.image, channel_of(variant), packed.data));
  } else {
    CLVET_ASSIGN_OR_RETURN(made.data, filled_buffer(*device_, packed.data));
  }
  if (!packed.scales.empty()) {
    CLVET_ASSIGN_OR_RETURN(made.scales, filled_buffer(*device_, packed.scales));
  }
  return &weights_.emplace(index, std::move(made)).first->second;
}

Result<cl_mem> Session::constant(const PlanStep& step, const Launch& launch, const CallArg& arg) {
  const TensorRole* role = role_of(launch.roles, arg);
  const auto index = role ? step.constants.find(role->name) : step.constants.end();
  if (index == step.constants.end()) {
    return fail(ErrorCode::kInternal, "kernel {} has no constant '{}'", step.variant, arg.name);
  }
  if (arg.kind != ArgKind::kVector) {
    const Storage storage = launch.row->variant.weights.value_or(Storage::kBuffer);
    CLVET_ASSIGN_OR_RETURN(const Weights* packed, weights(index->second, launch, *role, storage));
    return arg.kind == ArgKind::kScales ? packed->scales.get() : packed->data.get();
  }
  const ConstantRecipe& recipe = plan_.constants[static_cast<size_t>(index->second)];
  CLVET_ASSIGN_OR_RETURN(const Values values, values_of(recipe, *role));
  CLVET_ASSIGN_OR_RETURN(ClMem memory, filled_buffer(*device_, encode_vector(*role, values)));
  constants_.push_back(std::move(memory));
  return constants_.back().get();
}

Result<cl_mem> Session::object_of(const PlanStep& step, const Launch& launch, const CallArg& arg) {
  const auto tensor = step.tensors.find(arg.name);
  if (tensor == step.tensors.end()) return constant(step, launch, arg);
  return tensors_[static_cast<size_t>(tensor->second)].object;
}

Status Session::prepare(const PlanStep& step, const VariantTable& table, ReadyStep& ready) {
  CLVET_ASSIGN_OR_RETURN(Launch launch, launch_of(table, step, step.dims));
  const Program& program = *launch.row->program;
  auto kernel = device_->kernel(*launch.row);
  if (!kernel) return wrap(kernel.error(), program.entry);
  ready.kernel = std::move(*kernel);
  CLVET_RETURN_IF_ERROR(set_args(*device_, ready.kernel.get(), launch.call,
                                 [&](const CallArg& arg) { return object_of(step, launch, arg); }));
  ready.row = launch.row;
  ready.call = std::move(launch.call);
  return {};
}

Status Session::prepare_steps() {
  CLVET_ASSIGN_OR_RETURN(const auto table, VariantTable::embedded());
  ready_.resize(phase().steps.size());
  for (size_t i = 0; i < ready_.size(); ++i) {
    const PlanStep& step = phase().steps[i];
    if (step.kind == StepKind::kKernel) CLVET_RETURN_IF_ERROR(prepare(step, *table, ready_[i]));
  }
  return {};
}

// Row numbers must be those of rows, as on the host.
Status Session::upload_indices(const DeviceTensor& tensor, cl_mem object, const Tensor& value) {
  const std::vector<int64_t> indices = value.to_i64();
  if (static_cast<int64_t>(indices.size()) != tensor.extent.c) {
    return fail(ErrorCode::kInternal, "the tensor has {} row numbers, but the plan has {}",
                indices.size(), tensor.extent.c);
  }
  const int64_t extent = tensor.row_numbers;
  for (const int64_t index : indices) {
    if (index >= -extent && index < extent) continue;
    return fail(ErrorCode::kInvalidArgument,
                "tensor '{}' contains the row number {}, but there are only {} rows", tensor.value,
                index, extent);
  }
  return device_->write(object, encode_indices(indices));
}

Status Session::upload(const DeviceTensor& tensor, cl_mem object, const Tensor& value) {
  if (tensor.row_numbers > 0) return upload_indices(tensor, object, value);
  const TensorRole role = role_of(tensor);
  std::optional<Tensor> floats;
  if (value.dtype() != DType::kF32) {
    CLVET_ASSIGN_OR_RETURN(floats, value.cast(DType::kF32));
  }
  const std::span<const float> source = (floats ? *floats : value).values<float>();
  if (static_cast<int64_t>(source.size()) != role.elements()) {
    return fail(ErrorCode::kInternal, "the tensor has {} values, but the plan has {}",
                source.size(), role.elements());
  }
  if (lies_as_on_host(tensor)) return device_->upload(object, std::as_bytes(source));
  encode(tensor, source, staging_);
  return tensor.storage == Storage::kImage
             ? device_->write_image(object, activation_extent(role), staging_)
             : device_->upload(object, staging_);
}

Status Session::download(const DeviceTensor& tensor, cl_mem object, ValueId id, Tensor& value) {
  const auto type = graph_.values[static_cast<size_t>(id)].type();
  if (!type) return fail(ErrorCode::kInternal, "the type of a tensor is not known");
  const TensorRole role = role_of(tensor);
  const Precision precision = storage_precision(tensor.half);
  CLVET_ASSIGN_OR_RETURN(Tensor floats, Tensor::create(DType::kF32, type->shape));
  std::span<float> target(floats.data<float>(), static_cast<size_t>(floats.elements()));
  if (lies_as_on_host(tensor)) {
    CLVET_RETURN_IF_ERROR(device_->read(object, std::as_writable_bytes(target)));
    CLVET_ASSIGN_OR_RETURN(value, floats.cast(type->dtype));
    return {};
  }
  staging_.resize(activation_bytes(role, precision));
  CLVET_RETURN_IF_ERROR(tensor.storage == Storage::kImage
                            ? device_->read_image(object, activation_extent(role), staging_)
                            : device_->read(object, staging_));
  if (!needs_transpose(tensor)) {
    decode_activation_f32(role, precision, staging_, target);
  } else if (tensor.view == View::kChannelsFirst) {
    decode_planes_f32(planes_of(tensor), precision, staging_, target);
  } else {
    std::vector<float> ordered(target.size());
    decode_activation_f32(role, precision, staging_, ordered);
    from_device_order(ordered.data(), tensor.shape, tensor.view, target.data());
  }
  CLVET_ASSIGN_OR_RETURN(value, floats.cast(type->dtype));
  return {};
}

Result<std::vector<Tensor>> Session::host_answer(const Node& node,
                                                 const std::vector<Tensor>& values) const {
  std::vector<const Tensor*> arguments;
  for (const ValueId input : node.inputs) {
    const Tensor* constant = graph_.constant(input);
    arguments.push_back(input == kNoValue ? nullptr
                        : constant        ? constant
                                          : &values[static_cast<size_t>(input)]);
  }
  const CancelScope scope(cancelled_);
  auto outputs = run_node(node, arguments);
  if (!outputs) return at_node(outputs.error(), node);
  return outputs;
}

Status Session::run_host(const Node& node, std::vector<Tensor>& values) {
  CLVET_ASSIGN_OR_RETURN(auto outputs, host_answer(node, values));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) {
      values[static_cast<size_t>(node.outputs[i])] = std::move(outputs[i]);
    }
  }
  return {};
}

Status Session::run_step(size_t index, std::vector<Tensor>& values) {
  const PlanStep& step = phase().steps[index];
  if (step.kind == StepKind::kKernel) {
    const ReadyStep& ready = ready_[index];
    return device_->enqueue(*ready.row, ready.kernel.get(), ready.call);
  }
  if (step.kind == StepKind::kHost)
    return run_host(graph_.nodes[static_cast<size_t>(step.node)], values);
  const DeviceTensor& tensor = plan_.tensors[static_cast<size_t>(step.tensor)];
  const cl_mem object = tensors_[static_cast<size_t>(step.tensor)].object;
  const ValueId id = value_ids_[static_cast<size_t>(step.tensor)];
  Tensor& value = values[static_cast<size_t>(id)];
  if (step.kind == StepKind::kUpload && shared_.contains(static_cast<size_t>(step.tensor)))
    return hand_over(static_cast<size_t>(step.tensor), value);
  if (step.kind == StepKind::kDownload) return download(tensor, object, id, value);
  return tensor.constant ? Status() : upload(tensor, object, value);
}

Status Session::time_step(size_t index, std::vector<Tensor>& values, NodeTimes& times) {
  const PlanStep& step = phase().steps[index];
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(run_step(index, values));
  // A hand-over is waited for too: else the node after it would seem to take its time.
  if (step.kind != StepKind::kHost) CLVET_RETURN_IF_ERROR(device_->finish());
  double ms = ms_since(started);
  if (times.piped && step.kind == StepKind::kKernel) {
    CLVET_ASSIGN_OR_RETURN(ms, piped_ms(index, ms));
  }
  times.steps[index] = ms;
  if (step.node >= 0) times.ms[static_cast<size_t>(step.node)] += ms;
  return {};
}

// No kernel writes what it reads, so that it computes the same each time.
Result<double> Session::piped_ms(size_t index, double waited_ms) {
  const int launches = launches_in_batch(waited_ms);
  if (launches == 0) return waited_ms;
  std::vector<Tensor> none;
  const double started = monotonic_seconds();
  for (int i = 0; i < launches; ++i) CLVET_RETURN_IF_ERROR(run_step(index, none));
  CLVET_RETURN_IF_ERROR(device_->finish());
  return ms_since(started) / launches;
}

Result<std::vector<Tensor>> Session::input_values(
    const std::map<std::string, Tensor>& inputs) const {
  std::vector<Tensor> values(graph_.values.size());
  for (size_t id = 0; id < values.size(); ++id) {
    const Value& value = graph_.values[id];
    if (!value.shape || elements_of(*value.shape) != 0) continue;
    const auto type = value.type();
    if (!type) continue;
    CLVET_ASSIGN_OR_RETURN(values[id], Tensor::create(type->dtype, type->shape));
  }
  for (const ValueId id : graph_.inputs) {
    const Value& value = graph_.values[static_cast<size_t>(id)];
    const auto found = inputs.find(value.name);
    if (found == inputs.end())
      return fail(ErrorCode::kInvalidArgument, "input '{}' is missing", value.name);
    values[static_cast<size_t>(id)] = found->second;
  }
  for (const auto& [name, value] : graph_.given) {
    const auto found = inputs.find(name);
    if (found == inputs.end())
      return fail(ErrorCode::kInvalidArgument, "input '{}' is missing", name);
    if (!same_tensor(found->second, value)) {
      return fail(
          ErrorCode::kInvalidArgument,
          "the plan depends on the value of input '{}', which has changed: load the model again",
          name);
    }
  }
  return values;
}

Status Session::check_cancelled() const {
  if (!cancelled_ || !cancelled_->load(std::memory_order_relaxed)) return {};
  return fail(ErrorCode::kCancelled, "the run was cancelled");
}

Result<std::map<std::string, Tensor>> Session::run(const std::map<std::string, Tensor>& inputs,
                                                   NodeTimes* times, double deadline) {
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> values, input_values(inputs));
  if (times) {
    times->ms.assign(graph_.nodes.size(), 0);
    times->steps.assign(phase().steps.size(), 0);
  }
  for (size_t i = 0; i < phase().steps.size(); ++i) {
    CLVET_RETURN_IF_ERROR(check_cancelled());
    if (monotonic_seconds() > deadline) {
      return fail(ErrorCode::kDeadlineExceeded, "the run took too long");
    }
    CLVET_RETURN_IF_ERROR(times ? time_step(i, values, *times) : run_step(i, values));
  }
  return outputs_of(graph_, values);
}

}  // namespace clvet
