#include "runtime/exec/device_decoder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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
#include "runtime/exec/tokens_ahead.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/decoder_memory.h"
#include "runtime/llm/decoder_plan.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/next_token.h"
#include "runtime/llm/weights.h"
#include "runtime/plan/launch.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

cl_channel_type channel_of(WeightType type, Precision precision) {
  if (type != WeightType::kFloat) return CL_UNSIGNED_INT16;
  return stores_half(precision) ? CL_HALF_FLOAT : CL_FLOAT;
}

size_t layer_of(const std::string& cache) { return std::stoul(cache); }

}  // namespace

Result<std::unique_ptr<DeviceDecoder>> DeviceDecoder::create(Device& device,
                                                             const LlmConfig& config,
                                                             const LlmWeights& weights,
                                                             ExecutionPlan plan) {
  std::unique_ptr<DeviceDecoder> decoder(
      new DeviceDecoder(device, config, weights, std::move(plan)));
  CLVET_ASSIGN_OR_RETURN(decoder->table_, VariantTable::embedded());
  CLVET_RETURN_IF_ERROR(decoder->allocate());
  CLVET_RETURN_IF_ERROR(decoder->reserve(first_capacity(kRowsOfAStep)));
  // Every program is built and every matrix brought there before the first token.
  CLVET_ASSIGN_OR_RETURN(const auto* of_a_token, decoder->steps_for(1, true));
  for (const ReadyStep& step : *of_a_token) decoder->launches_.push_back(step.launched);
  CLVET_RETURN_IF_ERROR(decoder->steps_for(kRowsOfAStep, false));
  CLVET_RETURN_IF_ERROR(device.finish());
  return decoder;
}

int DeviceDecoder::head_parts() const {
  return static_cast<int>(
      std::count_if(plan_.tensors.begin(), plan_.tensors.end(),
                    [](const DeviceTensor& row) { return row.rows == TensorRows::kFixed; }));
}

Status DeviceDecoder::allocate() {
  for (const DeviceTensor& tensor : plan_.tensors) {
    tensors_.emplace_back();
    if (tensor.rows == TensorRows::kOfText) continue;
    CLVET_ASSIGN_OR_RETURN(tensors_.back(), device_.buffer(device_bytes(tensor)));
  }
  return {};
}

Status DeviceDecoder::expect_greedy(bool greedy) {
  greedy_ = greedy;
  if (!greedy || ahead_ || plan_.next_token.empty()) return {};
  Status made = make_ahead();
  if (!made) plan_.next_token.clear();
  return made;
}

Status DeviceDecoder::make_ahead() {
  const TableRow* row = table_->find(plan_.next_token);
  const auto logits = std::ranges::find(plan_.tensors, TensorRows::kFixed, &DeviceTensor::rows);
  if (!row || logits == plan_.tensors.end() || logits->half || logits->extent.c != config_.vocab) {
    return fail(ErrorCode::kInvalidArgument, "the plan's kernel {} cannot choose its tokens",
                plan_.next_token);
  }
  const auto of_logits = static_cast<size_t>(logits - plan_.tensors.begin());
  CLVET_ASSIGN_OR_RETURN(
      ahead_, TokensAhead::create(device_, config_, weights_, *row, tensors_[of_logits].get(),
                                  tensors_.front().get()));
  launches_.push_back({kNextToken, row});
  return {};
}

Status DeviceDecoder::forget_ahead() { return ahead_ ? ahead_->forget() : Status(); }

Status DeviceDecoder::reserve(int64_t capacity) {
  if (capacity <= capacity_) return {};
  CLVET_RETURN_IF_ERROR(forget_ahead());
  capacity = device_capacity(std::max(capacity, next_capacity(capacity_, config_)));
  const auto bytes_for = [](DeviceTensor tensor, int64_t positions) {
    tensor.extent.h = positions;
    return device_bytes(tensor);
  };
  std::map<std::string, ClMem> together;
  for (const DeviceTensor& tensor : plan_.tensors) {
    if (tensor.rows != TensorRows::kOfText || !is_of_all_layers(tensor.value)) continue;
    CLVET_ASSIGN_OR_RETURN(together[tensor.value], device_.buffer(bytes_for(tensor, capacity)));
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const DeviceTensor& tensor = plan_.tensors[i];
    if (tensor.rows != TensorRows::kOfText || is_of_all_layers(tensor.value)) continue;
    const size_t bytes = bytes_for(tensor, capacity);
    const auto whole = together.find(of_all_layers(tensor.value));
    CLVET_ASSIGN_OR_RETURN(ClMem grown, whole == together.end()
                                            ? device_.buffer(bytes)
                                            : device_.part(whole->second.get(),
                                                           layer_of(tensor.value) * bytes, bytes));
    if (capacity_ > 0) {
      CLVET_RETURN_IF_ERROR(
          device_.copy(tensors_[i].get(), grown.get(), bytes_for(tensor, capacity_)));
    }
    tensors_[i] = std::move(grown);
  }
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto whole = together.find(plan_.tensors[i].value);
    if (whole != together.end()) tensors_[i] = std::move(whole->second);
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
    const TensorRole role{
        .name = name, .kind = TensorKind::kVector, .c = static_cast<int64_t>(values.size())};
    CLVET_ASSIGN_OR_RETURN(
        memory, filled_buffer(device_, encode_vector(role, Values(values.begin(), values.end()))));
  }
  return memory.get();
}

Result<PackedWeights> DeviceDecoder::packed(const TensorRole& role, Precision precision,
                                            const MatrixForm& form) const {
  CLVET_ASSIGN_OR_RETURN(WeightMatrix matrix, weights_.matrix(form.matrix));
  if (role.cout < matrix.rows) matrix = matrix.part(form.first, role.cout);
  return form.type == WeightType::kFloat
             ? pack_rows(role, precision, form.storage, form.pack, matrix.expanded())
             : pack_rows(role, precision, form.storage, form.pack, matrix.quantised(form.type));
}

Result<ClMem> DeviceDecoder::upload(const PackedWeights& bytes, const MatrixForm& form,
                                    Precision precision) {
  return form.storage == Storage::kImage
             ? filled_image(device_, bytes.image, channel_of(form.type, precision), bytes.data)
             : filled_buffer(device_, bytes.data);
}

// Each layer's own is a part, which other calls find in its place.
Result<DeviceDecoder::Weights> DeviceDecoder::matrices_together(const TensorRole& role,
                                                                Precision precision,
                                                                const MatrixForm& form) {
  TensorRole one = role;
  one.n = 1;
  const PackedSize size = packed_size(one, precision, form.type, form.storage, form.pack);
  const auto layers = static_cast<size_t>(role.n);
  Weights all;
  CLVET_ASSIGN_OR_RETURN(all.data, device_.buffer(layers * size.data));
  if (size.scales > 0) {
    CLVET_ASSIGN_OR_RETURN(all.scales, device_.buffer(layers * size.scales));
  }
  size_t layer = 0;
  for (const std::string& name : each_of(form.matrix, role.n)) {
    MatrixForm own = form;
    own.matrix = name;
    CLVET_ASSIGN_OR_RETURN(const PackedWeights bytes, packed(one, precision, own));
    Weights part;
    CLVET_ASSIGN_OR_RETURN(part.data, device_.part(all.data.get(), layer * size.data, size.data));
    CLVET_RETURN_IF_ERROR(device_.write(part.data.get(), bytes.data));
    if (size.scales > 0) {
      CLVET_ASSIGN_OR_RETURN(part.scales,
                             device_.part(all.scales.get(), layer * size.scales, size.scales));
      CLVET_RETURN_IF_ERROR(device_.write(part.scales.get(), bytes.scales));
    }
    matrices_.insert_or_assign(own, std::move(part));
    ++layer;
  }
  return all;
}

Result<const DeviceDecoder::Weights*> DeviceDecoder::matrix(const ConstantRecipe& recipe,
                                                            const Launch& launch,
                                                            const CallArg& arg) {
  const Variant& variant = launch.row->variant;
  const MatrixForm form = form_of(recipe.name, recipe.part, variant);
  if (const auto known = matrices_.find(form); known != matrices_.end()) return &known->second;
  const TensorRole* role = role_of(launch.roles, arg);
  if (!role) return fail(ErrorCode::kInternal, "kernel {} takes no matrix", launch.row->name);
  Weights weights;
  if (is_of_all_layers(recipe.name)) {
    CLVET_ASSIGN_OR_RETURN(weights, matrices_together(*role, variant.precision, form));
  } else {
    CLVET_ASSIGN_OR_RETURN(const PackedWeights bytes, packed(*role, variant.precision, form));
    CLVET_ASSIGN_OR_RETURN(weights.data, upload(bytes, form, variant.precision));
    if (!bytes.scales.empty()) {
      CLVET_ASSIGN_OR_RETURN(weights.scales, filled_buffer(device_, bytes.scales));
    }
  }
  return &matrices_.emplace(form, std::move(weights)).first->second;
}

Result<cl_mem> DeviceDecoder::object_of(const PlanStep& step, const Launch& launch,
                                        const CallArg& arg) {
  if (const auto tensor = step.tensors.find(arg.name); tensor != step.tensors.end()) {
    return tensors_.at(static_cast<size_t>(tensor->second)).get();
  }
  if (arg.kind == ArgKind::kState) {
    if (!state_) {
      CLVET_ASSIGN_OR_RETURN(state_, filled_buffer(device_, Bytes(state_bytes(launch.roles))));
    }
    return state_.get();
  }
  const bool matrix_arg = arg.kind == ArgKind::kWeights || arg.kind == ArgKind::kScales;
  const auto constant = step.constants.find(arg.name);
  if (constant == step.constants.end()) {
    return fail(ErrorCode::kInternal, "kernel {} has no value for its argument '{}'", step.variant,
                arg.name);
  }
  const ConstantRecipe& recipe = plan_.constants.at(static_cast<size_t>(constant->second));
  if (!matrix_arg) return vector(recipe.name);
  CLVET_ASSIGN_OR_RETURN(const Weights* weights, matrix(recipe, launch, arg));
  return arg.kind == ArgKind::kScales ? weights->scales.get() : weights->data.get();
}

Result<DeviceDecoder::ReadyStep> DeviceDecoder::ready(const PlanStep& step, const Dims& dims) {
  CLVET_ASSIGN_OR_RETURN(Launch launch, launch_of(*table_, step, dims));
  ReadyStep ready;
  ready.launched.row = launch.row;
  CLVET_ASSIGN_OR_RETURN(ready.kernel, device_.kernel(*launch.row));
  CLVET_RETURN_IF_ERROR(set_args(device_, ready.kernel.get(), launch.call,
                                 [&](const CallArg& arg) { return object_of(step, launch, arg); }));
  for (size_t i = 0; i < launch.call.args.size(); ++i) {
    const CallArg& arg = launch.call.args[i];
    if (arg.kind != ArgKind::kInt) continue;
    if (arg.name == "P") ready.position_arg = static_cast<int>(i);
    if (arg.name == "first") ready.first_arg = static_cast<int>(i);
    if (arg.name == "count") ready.count_arg = static_cast<int>(i);
  }
  ready.call = std::move(launch.call);
  return ready;
}

const PlanPhase& DeviceDecoder::phase_of(int64_t rows) const {
  return plan_.phases[rows == 1 ? 0 : 1];
}

std::vector<DecoderCall> DeviceDecoder::calls_of(int64_t rows, bool answer) const {
  return calls_in(phase_of(rows),
                  decoder_calls(config_, rows, capacity_, answer, head_rows_of(plan_)));
}

Result<const std::vector<DeviceDecoder::ReadyStep>*> DeviceDecoder::steps_for(int64_t rows,
                                                                              bool answer) {
  const auto found = steps_.find({rows, answer});
  if (found != steps_.end()) return &found->second;
  // A single token that is not answered goes as far as the layers do.
  const PlanPhase& phase = phase_of(rows);
  const auto calls = calls_of(rows, answer);
  if (calls.size() > phase.steps.size()) {
    return fail(ErrorCode::kInternal, "the plan has {} steps, but {} are needed",
                phase.steps.size(), calls.size());
  }
  std::vector<ReadyStep> steps;
  for (size_t i = 0; i < calls.size(); ++i) {
    auto made = ready(phase.steps[i], calls[i].dims);
    if (!made) return wrap(made.error(), calls[i].name);
    made->launched.node = calls[i].name;
    steps.push_back(std::move(*made));
  }
  return &(steps_[{rows, answer}] = std::move(steps));
}

Status DeviceDecoder::prepare(int64_t rows, int64_t position, bool answer) {
  CLVET_RETURN_IF_ERROR(reserve(position + rows));
  const auto steps = steps_for(rows, answer);
  return steps ? Status() : tl::unexpected(steps.error());
}

Status DeviceDecoder::take_hidden(std::span<const float> hidden, int64_t rows) {
  const Precision precision = storage_precision(plan_.tensors.front().half);
  const TensorRole role{.h = rows, .c = config_.width};
  Bytes bytes(activation_bytes(role, precision));
  encode_activation_f32(role, precision, hidden, bytes);
  return device_.write_later(tensors_.front().get(), std::move(bytes));
}

Status DeviceDecoder::launch(const ReadyStep& ready, int64_t position) {
  if (ready.position_arg >= 0) {
    CLVET_RETURN_IF_ERROR(set_arg(device_, ready.kernel.get(),
                                  static_cast<size_t>(ready.position_arg),
                                  static_cast<cl_int>(position)));
  }
  return device_.enqueue(*ready.launched.row, ready.kernel.get(), ready.call);
}

Result<std::span<const float>> DeviceDecoder::step(std::span<const float> hidden, int64_t rows,
                                                   int64_t position, bool answer) {
  const bool alone = rows == 1 && answer && ahead_;
  if (alone && (greedy_ || ahead_->busy())) return step_ahead(hidden, position);
  CLVET_RETURN_IF_ERROR(forget_ahead());
  CLVET_RETURN_IF_ERROR(reserve(position + rows));
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(take_hidden(hidden, rows));
  CLVET_ASSIGN_OR_RETURN(const auto* steps, steps_for(rows, answer));
  for (const ReadyStep& ready : *steps) CLVET_RETURN_IF_ERROR(launch(ready, position));
  if (!answer) return std::span<const float>{};
  auto logits = read_logits();
  answer_ms_ = ms_since(started);
  return logits;
}

Status DeviceDecoder::launch_ahead(int64_t position) {
  CLVET_ASSIGN_OR_RETURN(const auto* steps, steps_for(1, true));
  for (const ReadyStep& ready : *steps) CLVET_RETURN_IF_ERROR(launch(ready, position));
  return ahead_->ask(position);
}

// The step behind this one is on its way before this one is waited for, but where the caches have
// no room for it yet.
Result<std::span<const float>> DeviceDecoder::step_ahead(std::span<const float> hidden,
                                                         int64_t position) {
  const double started = monotonic_seconds();
  const bool guessed = ahead_->guessed(position, hidden);
  if (!guessed) {
    CLVET_RETURN_IF_ERROR(forget_ahead());
    CLVET_RETURN_IF_ERROR(reserve(position + 1));
    CLVET_RETURN_IF_ERROR(take_hidden(hidden, 1));
    CLVET_RETURN_IF_ERROR(launch_ahead(position));
  }
  const bool goes_on = greedy_ && position + 1 < config_.context && position + 2 <= capacity_;
  if (goes_on) CLVET_RETURN_IF_ERROR(launch_ahead(position + 1));
  CLVET_ASSIGN_OR_RETURN(const auto logits, ahead_->take());
  answer_ms_ = guessed ? ahead_->last_ms() : ms_since(started);
  return logits;
}

Result<std::span<const float>> DeviceDecoder::read_logits() {
  logits_.resize(static_cast<size_t>(config_.vocab));
  size_t first = 0;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const DeviceTensor& part = plan_.tensors[i];
    if (part.rows != TensorRows::kFixed) continue;
    const auto columns = static_cast<size_t>(part.extent.c);
    const std::span<float> of_part = std::span(logits_).subspan(first, columns);
    first += columns;
    if (!part.half) {  // one row of floats, and what fills its last texel
      CLVET_RETURN_IF_ERROR(device_.read(tensors_[i].get(), std::as_writable_bytes(of_part)));
      continue;
    }
    staging_.resize(device_bytes(part));
    CLVET_RETURN_IF_ERROR(device_.read(tensors_[i].get(), staging_));
    decode_activation_f32(clvet::role_of(part), storage_precision(part.half), staging_, of_part);
  }
  return logits_;
}

}  // namespace clvet
