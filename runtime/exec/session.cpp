#include "runtime/exec/session.h"

#include <algorithm>
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
#include "kernels/layout.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/infer.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/op_def.h"
#include "runtime/ops/view.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

cl_channel_type channel_of(Precision precision) {
  return stores_half(precision) ? CL_HALF_FLOAT : CL_FLOAT;
}

bool same_tensor(const Tensor& a, const Tensor& b) {
  if (a.raw() == b.raw()) return true;
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
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

}  // namespace

Result<Session> Session::create(Graph graph, ExecutionPlan plan, Device* device) {
  Session session(std::move(graph), std::move(plan), device);
  if (!session.plan_.programs.empty() && !device) {
    return fail(ErrorCode::kInternal, "a plan with kernels and no device");
  }
  CLVET_RETURN_IF_ERROR(session.allocate());
  CLVET_RETURN_IF_ERROR(session.upload_constants());
  CLVET_RETURN_IF_ERROR(session.prepare_launches());
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
          memory.own, device_->image(activation_extent(tensor.role), channel_of(tensor.precision)));
    }
    if (memory.own) memory.object = memory.own.get();
    tensors_.push_back(std::move(memory));
  }
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    if (!plan_.tensors[i].constant) continue;
    const Tensor* value = graph_.constant(plan_.tensors[i].value);
    if (!value) return fail(ErrorCode::kInternal, "a constant tensor without a value");
    CLVET_RETURN_IF_ERROR(upload(plan_.tensors[i], tensors_[i].object, *value));
  }
  return {};
}

Status Session::upload_constants() {
  for (const DeviceConstant& constant : plan_.constants) {
    const Node& node = graph_.nodes[static_cast<size_t>(constant.node)];
    Values values(static_cast<size_t>(constant.role.elements()), 0.0);
    if (constant.make) {
      const auto call = call_of(graph_, node);
      if (!call) return fail(ErrorCode::kInternal, "node '{}' has open shapes", node.name);
      values = constant.make(*call);
    }
    Memory memory;
    if (constant.kind == ArgKind::kVector) {
      const Bytes bytes = encode_vector(constant.role, values);
      CLVET_ASSIGN_OR_RETURN(memory.own, device_->buffer(bytes.size()));
      CLVET_RETURN_IF_ERROR(device_->write(memory.own.get(), bytes));
    } else {
      const PackedWeights packed =
          pack_weights(constant.role, constant.precision, WeightType::kFloat, constant.storage,
                       constant.pack, values);
      if (constant.storage == Storage::kImage) {
        CLVET_ASSIGN_OR_RETURN(memory.own,
                               device_->image(packed.image, channel_of(constant.precision)));
        CLVET_RETURN_IF_ERROR(device_->write_image(memory.own.get(), packed.image, packed.data));
      } else {
        CLVET_ASSIGN_OR_RETURN(memory.own, device_->buffer(packed.data.size()));
        CLVET_RETURN_IF_ERROR(device_->write(memory.own.get(), packed.data));
      }
    }
    memory.object = memory.own.get();
    constants_.push_back(std::move(memory));
  }
  return {};
}

Status Session::prepare_launches() {
  kernels_.resize(plan_.steps.size());
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const PlanStep& step = plan_.steps[i];
    if (step.kind != StepKind::kKernel) continue;
    const Program& program = *plan_.programs[static_cast<size_t>(step.program)];
    auto kernel = device_->kernel(program, guard_);
    if (!kernel) return wrap(kernel.error(), program.entry);
    kernels_[i] = std::move(*kernel);
    for (size_t a = 0; a < step.call.args.size(); ++a) {
      const CallArg& arg = step.call.args[a];
      const PlanStep::Object& object = step.objects[a];
      const auto set = [&](const auto& value) {
        return device_->api().clSetKernelArg(kernels_[i].get(), static_cast<cl_uint>(a),
                                             sizeof value, &value);
      };
      const cl_int code =
          object.tensor >= 0     ? set(tensors_[static_cast<size_t>(object.tensor)].object)
          : object.constant >= 0 ? set(constants_[static_cast<size_t>(object.constant)].object)
          : arg.kind == ArgKind::kFloat ? set(arg.float_value)
                                        : set(arg.int_value);
      CLVET_RETURN_IF_ERROR(cl_status(code, "clSetKernelArg"));
    }
  }
  return {};
}

// Row numbers must be those of rows, as on the host.
Status Session::upload_indices(const DeviceTensor& tensor, cl_mem object, const Tensor& value) {
  const std::vector<int64_t> indices = value.to_i64();
  if (static_cast<int64_t>(indices.size()) != tensor.role.elements()) {
    return fail(ErrorCode::kInternal, "{} row numbers where {} are planned", indices.size(),
                tensor.role.elements());
  }
  const int64_t extent = tensor.role.extent;
  for (const int64_t index : indices) {
    if (index >= -extent && index < extent) continue;
    return fail(ErrorCode::kInvalidArgument, "'{}' holds the row number {}, there are {} rows",
                graph_.values[static_cast<size_t>(tensor.value)].name, index, extent);
  }
  return device_->write(object, encode_indices(indices));
}

Status Session::upload(const DeviceTensor& tensor, cl_mem object, const Tensor& value) {
  if (tensor.role.kind == TensorKind::kIndices) return upload_indices(tensor, object, value);
  std::vector<float> ordered;
  std::optional<Tensor> floats;
  if (value.dtype() != DType::kF32) {
    CLVET_ASSIGN_OR_RETURN(floats, value.cast(DType::kF32));
  }
  const std::span<const float> source = (floats ? *floats : value).values<float>();
  if (static_cast<int64_t>(source.size()) != tensor.role.elements()) {
    return fail(ErrorCode::kInternal, "a tensor of {} values where {} are planned", source.size(),
                tensor.role.elements());
  }
  Bytes bytes(activation_bytes(tensor.role, tensor.precision));
  if (!needs_transpose(tensor)) {
    encode_activation_f32(tensor.role, tensor.precision, source, bytes);
  } else if (tensor.view == View::kChannelsFirst) {
    encode_planes_f32(planes_of(tensor), tensor.precision, source, bytes);
  } else {
    ordered.resize(source.size());
    to_device_order(source.data(), tensor.shape, tensor.view, ordered.data());
    encode_activation_f32(tensor.role, tensor.precision, ordered, bytes);
  }
  return tensor.storage == Storage::kImage
             ? device_->write_image(object, activation_extent(tensor.role), bytes)
             : device_->write_later(object, std::move(bytes));
}

Status Session::download(const DeviceTensor& tensor, cl_mem object, Tensor& value) {
  const auto type = graph_.values[static_cast<size_t>(tensor.value)].type();
  if (!type) return fail(ErrorCode::kInternal, "a tensor of unknown type");
  staging_.resize(activation_bytes(tensor.role, tensor.precision));
  CLVET_RETURN_IF_ERROR(tensor.storage == Storage::kImage
                            ? device_->read_image(object, activation_extent(tensor.role), staging_)
                            : device_->read(object, staging_));
  CLVET_ASSIGN_OR_RETURN(Tensor floats, Tensor::create(DType::kF32, type->shape));
  std::span<float> target(floats.data<float>(), static_cast<size_t>(floats.elements()));
  if (!needs_transpose(tensor)) {
    decode_activation_f32(tensor.role, tensor.precision, staging_, target);
  } else if (tensor.view == View::kChannelsFirst) {
    decode_planes_f32(planes_of(tensor), tensor.precision, staging_, target);
  } else {
    std::vector<float> ordered(target.size());
    decode_activation_f32(tensor.role, tensor.precision, staging_, ordered);
    from_device_order(ordered.data(), tensor.shape, tensor.view, target.data());
  }
  CLVET_ASSIGN_OR_RETURN(value, floats.cast(type->dtype));
  return {};
}

Status Session::run_host(const Node& node, std::vector<Tensor>& values) {
  std::vector<const Tensor*> arguments;
  for (const ValueId input : node.inputs) {
    const Tensor* constant = graph_.constant(input);
    arguments.push_back(input == kNoValue ? nullptr
                        : constant        ? constant
                                          : &values[static_cast<size_t>(input)]);
  }
  auto outputs = run_node(node, arguments);
  if (!outputs) return wrap(outputs.error(), "node '" + node.name + "'");
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) {
      values[static_cast<size_t>(node.outputs[i])] = std::move((*outputs)[i]);
    }
  }
  return {};
}

Status Session::run_step(size_t index, std::vector<Tensor>& values) {
  const PlanStep& step = plan_.steps[index];
  if (step.kind == StepKind::kKernel) {
    const size_t* local = step.call.local[0] ? step.call.local.data() : nullptr;
    return device_->enqueue(kernels_[index].get(), step.call.work_dim, step.call.global.data(),
                            local);
  }
  if (step.kind == StepKind::kHost)
    return run_host(graph_.nodes[static_cast<size_t>(step.node)], values);
  const DeviceTensor& tensor = plan_.tensors[static_cast<size_t>(step.tensor)];
  const cl_mem object = tensors_[static_cast<size_t>(step.tensor)].object;
  Tensor& value = values[static_cast<size_t>(tensor.value)];
  if (step.kind == StepKind::kDownload) return download(tensor, object, value);
  return tensor.constant ? Status() : upload(tensor, object, value);
}

Result<std::map<std::string, Tensor>> Session::run(const std::map<std::string, Tensor>& inputs,
                                                   std::vector<double>* node_ms, double deadline) {
  std::vector<Tensor> values(graph_.values.size());
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
      return fail(ErrorCode::kInvalidArgument,
                  "input '{}' is part of the plan and has another value now: load the model again",
                  name);
    }
  }
  if (node_ms) node_ms->assign(graph_.nodes.size(), 0);
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    const double started = monotonic_seconds();
    if (started > deadline) return fail(ErrorCode::kDeadlineExceeded, "the run took too long");
    CLVET_RETURN_IF_ERROR(run_step(i, values));
    if (!node_ms || plan_.steps[i].node < 0) continue;
    if (plan_.steps[i].kind == StepKind::kKernel) CLVET_RETURN_IF_ERROR(device_->finish());
    (*node_ms)[static_cast<size_t>(plan_.steps[i].node)] += (monotonic_seconds() - started) * 1e3;
  }
  std::map<std::string, Tensor> outputs;
  for (const ValueId id : graph_.outputs) {
    const Tensor* constant = graph_.constant(id);
    outputs[graph_.values[static_cast<size_t>(id)].name] =
        constant ? *constant : values[static_cast<size_t>(id)];
  }
  return outputs;
}

}  // namespace clvet
