#include "runtime/exec/device_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/decoder_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

cl_channel_type channel_of(WeightType type, Precision precision) {
  if (type != WeightType::kFloat) return CL_UNSIGNED_INT16;
  return stores_half(precision) ? CL_HALF_FLOAT : CL_FLOAT;
}

}  // namespace

Result<std::unique_ptr<DeviceDecoder>> DeviceDecoder::create(Device& device,
                                                             const LlmConfig& config,
                                                             const LlmWeights& weights,
                                                             DecoderPlanner planner) {
  std::unique_ptr<DeviceDecoder> decoder(
      new DeviceDecoder(device, config, weights, std::move(planner)));
  CLVET_RETURN_IF_ERROR(decoder->allocate());
  CLVET_RETURN_IF_ERROR(decoder->reserve(first_capacity(kRowsOfAStep)));
  // Every program is built and every matrix brought there before the first token.
  CLVET_ASSIGN_OR_RETURN(const auto* launches, decoder->launches_for(1, true));
  decoder->launches_ = static_cast<int>(launches->size());
  CLVET_RETURN_IF_ERROR(device.finish());
  return decoder;
}

TensorRole DeviceDecoder::role_of(const std::string& buffer, int64_t rows) const {
  return buffer_role(rows_.at(buffer), rows);
}

Status DeviceDecoder::allocate() {
  const Precision precision = planner_.combination().precision;
  for (const DecoderBuffer& buffer : decoder_buffers(config_)) {
    rows_[buffer.name] = buffer;
    if (buffer.cache || buffer.name == "logits") continue;
    CLVET_ASSIGN_OR_RETURN(
        buffers_[buffer.name],
        device_.buffer(activation_bytes(role_of(buffer.name, kRowsOfAStep), precision)));
  }
  return {};
}

Status DeviceDecoder::reserve(int64_t capacity) {
  if (capacity <= capacity_) return {};
  capacity = std::max(capacity, next_capacity(capacity_, config_));
  for (const DecoderBuffer& buffer : decoder_buffers(config_)) {
    if (!buffer.cache) continue;
    const Precision precision = planner_.combination().precision;
    CLVET_ASSIGN_OR_RETURN(
        ClMem grown, device_.buffer(activation_bytes(role_of(buffer.name, capacity), precision)));
    if (capacity_ > 0) {
      CLVET_RETURN_IF_ERROR(
          device_.copy(buffers_[buffer.name].get(), grown.get(),
                       activation_bytes(role_of(buffer.name, capacity_), precision)));
    }
    buffers_[buffer.name] = std::move(grown);
  }
  std::erase_if(vectors_, [](const auto& row) {
    return row.first.starts_with("cos_") || row.first.starts_with("sin_");
  });
  steps_.clear();
  capacity_ = capacity;
  return device_.finish();
}

Result<cl_mem> DeviceDecoder::vector(const std::string& name) {
  ClMem& memory = vectors_[name];
  if (!memory) {
    CLVET_ASSIGN_OR_RETURN(const std::vector<float> values, weights_.vector(name, capacity_));
    const Bytes bytes = encode_vector(
        {.name = name, .kind = TensorKind::kVector, .c = static_cast<int64_t>(values.size())},
        Values(values.begin(), values.end()));
    CLVET_ASSIGN_OR_RETURN(memory, device_.buffer(bytes.size()));
    CLVET_RETURN_IF_ERROR(device_.write(memory.get(), bytes));
  }
  return memory.get();
}

Result<const DeviceDecoder::Weights*> DeviceDecoder::matrix(const DecoderCall& call,
                                                            const ChosenVariant& chosen) {
  const Variant& variant = chosen.variant;
  const MatrixForm form = form_of(call, variant);
  Weights& weights = matrices_[form];
  if (weights.data) return &weights;
  CLVET_ASSIGN_OR_RETURN(WeightMatrix matrix, weights_.matrix(call.matrix()));
  const int64_t rows = call.dims.at("N");
  if (rows < matrix.rows) matrix = matrix.part(call.first, rows);
  const TensorRole role = matrix_role(call);
  const PackedWeights packed =
      form.type == WeightType::kFloat
          ? pack_rows(role, variant.precision, form.storage, form.pack, matrix.expanded())
          : pack_rows(role, variant.precision, form.storage, form.pack, matrix.quantised());
  if (form.storage == Storage::kImage) {
    CLVET_ASSIGN_OR_RETURN(weights.data,
                           device_.image(packed.image, channel_of(form.type, variant.precision)));
    CLVET_RETURN_IF_ERROR(device_.write_image(weights.data.get(), packed.image, packed.data));
  } else {
    CLVET_ASSIGN_OR_RETURN(weights.data, device_.buffer(packed.data.size()));
    CLVET_RETURN_IF_ERROR(device_.write(weights.data.get(), packed.data));
  }
  if (!packed.scales.empty()) {
    CLVET_ASSIGN_OR_RETURN(weights.scales, device_.buffer(packed.scales.size()));
    CLVET_RETURN_IF_ERROR(device_.write(weights.scales.get(), packed.scales));
  }
  return &weights;
}

Result<cl_mem> DeviceDecoder::object_of(const DecoderCall& call, const ChosenVariant& chosen,
                                        const CallArg& arg) {
  if (arg.kind == ArgKind::kWeights || arg.kind == ArgKind::kScales) {
    CLVET_ASSIGN_OR_RETURN(const Weights* weights, matrix(call, chosen));
    return arg.kind == ArgKind::kScales ? weights->scales.get() : weights->data.get();
  }
  const auto name = call.tensors.find(arg.name);
  if (name == call.tensors.end()) {
    return fail(ErrorCode::kInternal, "{} has no tensor for '{}'", call.op, arg.name);
  }
  if (arg.kind == ArgKind::kVector) return vector(name->second);
  if (name->second == "logits") {
    LogitsPart& part = logits_[call.first];
    if (!part.data) {
      part.columns = call.dims.at("N");
      CLVET_ASSIGN_OR_RETURN(part.data,
                             device_.buffer(activation_bytes(logits_role(part.columns),
                                                             planner_.combination().precision)));
    }
    return part.data.get();
  }
  const auto buffer = buffers_.find(name->second);
  if (buffer == buffers_.end()) {
    return fail(ErrorCode::kInternal, "no buffer '{}'", name->second);
  }
  return buffer->second.get();
}

Result<DeviceDecoder::Launch> DeviceDecoder::launch_of(const DecoderCall& call) {
  CLVET_ASSIGN_OR_RETURN(ChosenVariant chosen, planner_.choose(call));
  Launch launch;
  CLVET_ASSIGN_OR_RETURN(launch.kernel, device_.kernel(*chosen.program, guard_));
  for (size_t i = 0; i < chosen.call.args.size(); ++i) {
    const CallArg& arg = chosen.call.args[i];
    const auto set = [&](const auto& value) {
      return device_.api().clSetKernelArg(launch.kernel.get(), static_cast<cl_uint>(i),
                                          sizeof value, &value);
    };
    cl_int code = CL_SUCCESS;
    if (arg.kind == ArgKind::kInt) {
      if (arg.name == "P") launch.position_arg = static_cast<int>(i);
      code = set(arg.int_value);
    } else if (arg.kind == ArgKind::kFloat) {
      code = set(arg.float_value);
    } else {
      CLVET_ASSIGN_OR_RETURN(const cl_mem object, object_of(call, chosen, arg));
      code = set(object);
    }
    CLVET_RETURN_IF_ERROR(cl_status(code, "clSetKernelArg"));
  }
  launch.call = std::move(chosen.call);
  return launch;
}

Result<const std::vector<DeviceDecoder::Launch>*> DeviceDecoder::launches_for(int64_t rows,
                                                                              bool answer) {
  const auto found = steps_.find({rows, answer});
  if (found != steps_.end()) return &found->second;
  std::vector<Launch> launches;
  for (const DecoderCall& call :
       decoder_calls(config_, rows, capacity_, answer, planner_.head_rows())) {
    auto launch = launch_of(call);
    if (!launch) return wrap(launch.error(), call.op);
    launches.push_back(std::move(*launch));
  }
  return &(steps_[{rows, answer}] = std::move(launches));
}

Result<std::vector<float>> DeviceDecoder::step(std::span<const float> hidden, int64_t rows,
                                               int64_t position, bool answer) {
  CLVET_RETURN_IF_ERROR(reserve(position + rows));
  const Precision precision = planner_.combination().precision;
  const TensorRole role = role_of("hidden", rows);
  Bytes bytes(activation_bytes(role, precision));
  encode_activation_f32(role, precision, hidden, bytes);
  CLVET_RETURN_IF_ERROR(device_.write_later(buffers_.at("hidden").get(), std::move(bytes)));
  CLVET_ASSIGN_OR_RETURN(const auto* launches, launches_for(rows, answer));
  const auto at = static_cast<cl_int>(position);
  for (const Launch& launch : *launches) {
    if (launch.position_arg >= 0) {
      CLVET_RETURN_IF_ERROR(cl_status(
          device_.api().clSetKernelArg(launch.kernel.get(),
                                       static_cast<cl_uint>(launch.position_arg), sizeof at, &at),
          "clSetKernelArg"));
    }
    const size_t* local = launch.call.local[0] ? launch.call.local.data() : nullptr;
    CLVET_RETURN_IF_ERROR(device_.enqueue(launch.kernel.get(), launch.call.work_dim,
                                          launch.call.global.data(), local));
  }
  if (!answer) return std::vector<float>{};
  return read_logits();
}

Result<std::vector<float>> DeviceDecoder::read_logits() {
  const Precision precision = planner_.combination().precision;
  std::vector<float> logits(static_cast<size_t>(config_.vocab));
  for (const auto& [first, part] : logits_) {
    const TensorRole role = logits_role(part.columns);
    staging_.resize(activation_bytes(role, precision));
    CLVET_RETURN_IF_ERROR(device_.read(part.data.get(), staging_));
    decode_activation_f32(
        role, precision, staging_,
        std::span(logits).subspan(static_cast<size_t>(first), static_cast<size_t>(part.columns)));
  }
  return logits;
}

}  // namespace clvet
