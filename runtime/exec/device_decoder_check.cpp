// DeviceDecoder::check: every launch's result beside the host's of the same inputs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "runtime/exec/added.h"
#include "runtime/exec/device.h"
#include "runtime/exec/device_decoder.h"
#include "runtime/exec/step_answer.h"
#include "runtime/graph/tensor.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/fused_calls.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

Status run_on(HostDecoder& host, const DecoderCall& call, int64_t rows, int64_t position) {
  if (call.parts.empty()) return host.run(call, rows, position);
  for (const DecoderCall& part : call.parts) {
    CLVET_RETURN_IF_ERROR(host.run(part, rows, position));
  }
  return {};
}

}  // namespace

struct DeviceDecoder::Compared {
  const DecoderCall& call;
  const ReadyStep& ready;
  int64_t rows, position;
  HostDecoder& host;
  Checker& checker;
};

// The first `rows` rows.
Result<std::vector<float>> DeviceDecoder::values_of(size_t tensor, int64_t rows) {
  const DeviceTensor& row = plan_.tensors[tensor];
  const TensorRole role{.h = rows, .c = row.extent.c};
  const Precision precision = storage_precision(row.half);
  staging_.resize(activation_bytes(role, precision));
  CLVET_RETURN_IF_ERROR(device_.read(tensors_[tensor].get(), staging_));
  std::vector<float> values(static_cast<size_t>(rows * row.extent.c));
  decode_activation_f32(role, precision, staging_, values);
  return values;
}

// Keys and values of earlier positions, and the embeddings.
Status DeviceDecoder::copy_to_host(HostDecoder& host, int64_t positions) {
  CLVET_RETURN_IF_ERROR(host.reserve(capacity_));
  for (size_t i = 0; positions > 0 && i < tensors_.size(); ++i) {
    const DeviceTensor& tensor = plan_.tensors[i];
    if (tensor.rows != TensorRows::kOfText || is_of_all_layers(tensor.value)) continue;
    CLVET_ASSIGN_OR_RETURN(const std::vector<float> values, values_of(i, positions));
    host.put(plan_.tensors[i].value, 0, values);
  }
  return {};
}

// The device's values take the place of the host's, for the calls behind. Of a sum `residual` names
// what was added to.
Status DeviceDecoder::compare_output(const Compared& step, size_t tensor, int64_t first_row,
                                     const std::string& residual) {
  const DeviceTensor& row = plan_.tensors[tensor];
  const int64_t columns = row.extent.c;
  const bool head = row.rows == TensorRows::kFixed;
  const std::string name = head ? "logits" : row.value;
  const int64_t first = head ? step.call.first : first_row * columns;
  CLVET_ASSIGN_OR_RETURN(const std::vector<float> all, values_of(tensor, first_row + step.rows));
  const std::span<const float> device =
      std::span(all).subspan(static_cast<size_t>(first_row * columns));
  const std::span<const float> host =
      std::span(step.host.buffer(name)).subspan(static_cast<size_t>(first), device.size());
  const Shape shape{step.rows, columns};
  const auto judge = [&](std::span<const float> made, std::span<const float> wanted) {
    step.checker.judge({step.call.name, step.ready.launched.row, name, Tensor::from(shape, made),
                        Tensor::from(shape, wanted), row.half});
  };
  if (residual.empty()) {
    judge(device, host);
  } else {
    const Added added(device, host, step.host.buffer(residual), row.half);
    judge(added.device, added.host);
  }
  step.host.put(name, first, device);
  return {};
}

// Of a call of layers, one layer: each part of it beside the host's, of what the device had before.
Status DeviceDecoder::check_layer(const Compared& step, const PlanStep& planned, int64_t layer) {
  for (const DecoderCall& part : parts_of_layer(step.call, layer)) {
    CLVET_RETURN_IF_ERROR(step.host.run(part, step.rows, step.position));
    const auto x1 = part.tensors.find("x1");
    for (const auto& [role, name] : part.tensors) {
      if (!part.writes(role)) continue;
      const auto written = [&](const auto& tensor) {
        const std::string& value = plan_.tensors[static_cast<size_t>(tensor.second)].value;
        return step.call.writes(tensor.first) && value == of_all_layers(name);
      };
      if (std::ranges::none_of(planned.tensors, written)) continue;
      const auto tensor = std::ranges::find(plan_.tensors, name, &DeviceTensor::value);
      if (tensor == plan_.tensors.end()) continue;
      const bool cache = tensor->rows == TensorRows::kOfText;
      CLVET_RETURN_IF_ERROR(
          compare_output(step, static_cast<size_t>(tensor - plan_.tensors.begin()),
                         cache ? step.position : 0, x1 == part.tensors.end() ? "" : x1->second));
    }
  }
  return {};
}

Status DeviceDecoder::check_call(const Compared& step, const PlanStep& planned) {
  const DecoderCall& call = step.call;
  const cl_kernel kernel = step.ready.kernel.get();
  const int64_t layers = step.ready.count_arg < 0 ? 1 : call.dims.at("count");
  const auto set_range = [&](int64_t first, int64_t count) -> Status {
    if (step.ready.count_arg < 0) return {};
    CLVET_RETURN_IF_ERROR(set_arg(device_, kernel, static_cast<size_t>(step.ready.first_arg),
                                  static_cast<cl_int>(first)));
    return set_arg(device_, kernel, static_cast<size_t>(step.ready.count_arg),
                   static_cast<cl_int>(count));
  };
  for (int64_t layer = 0; layer < layers; ++layer) {
    CLVET_RETURN_IF_ERROR(set_range(layer, 1));
    const double started = monotonic_seconds();
    CLVET_RETURN_IF_ERROR(launch(step.ready, step.position));
    CLVET_RETURN_IF_ERROR(device_.finish());
    step.checker.steps_s += monotonic_seconds() - started;
    if (step.ready.count_arg >= 0) CLVET_RETURN_IF_ERROR(check_layer(step, planned, layer));
  }
  if (step.ready.count_arg >= 0) return set_range(0, layers);
  CLVET_RETURN_IF_ERROR(run_on(step.host, call, step.rows, step.position));
  const auto add = call.dims.find("add");
  const bool adds = add != call.dims.end() && add->second;
  for (const CallArg& arg : step.ready.call.args) {
    if (arg.kind != ArgKind::kOutput) continue;
    const auto tensor = static_cast<size_t>(planned.tensors.at(arg.name));
    const bool cache = plan_.tensors[tensor].rows == TensorRows::kOfText;
    CLVET_RETURN_IF_ERROR(
        compare_output(step, tensor, cache ? step.position : 0, adds ? call.tensors.at("r") : ""));
  }
  return {};
}

Result<std::span<const float>> DeviceDecoder::check(std::span<const float> hidden, int64_t rows,
                                                    int64_t position, bool answer,
                                                    HostDecoder& host, Checker& checker) {
  CLVET_RETURN_IF_ERROR(forget_ahead());
  CLVET_RETURN_IF_ERROR(reserve(position + rows));
  CLVET_RETURN_IF_ERROR(take_hidden(hidden, rows));
  CLVET_RETURN_IF_ERROR(copy_to_host(host, position));
  CLVET_ASSIGN_OR_RETURN(const std::vector<float> taken, values_of(0, rows));
  const Shape shape{rows, config_.width};
  checker.judge({"", nullptr, "", Tensor::from(shape, std::span<const float>(taken)),
                 Tensor::from(shape, hidden), plan_.tensors.front().half});
  host.put("hidden", 0, taken);
  CLVET_ASSIGN_OR_RETURN(const auto* steps, steps_for(rows, answer));
  const auto calls = calls_of(rows, answer);
  const PlanPhase& phase = phase_of(rows);
  for (size_t i = 0; i < calls.size(); ++i) {
    const Compared step{calls[i], (*steps)[i], rows, position, host, checker};
    CLVET_RETURN_IF_ERROR(check_call(step, phase.steps[i]));
  }
  if (!answer) return std::span<const float>{};
  return std::span(host.buffer("logits")).first(static_cast<size_t>(config_.vocab));
}

}  // namespace clvet
