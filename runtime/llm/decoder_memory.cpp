#include "runtime/llm/decoder_memory.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/device_features.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"

namespace clvet {
namespace {

constexpr int64_t kFirstCapacity = 256;
constexpr int64_t kPositionsTogether = 8;

}  // namespace

int64_t first_capacity(int64_t rows) { return std::max(kFirstCapacity, rows); }

int64_t next_capacity(int64_t capacity, const LlmConfig& config) {
  return std::max(capacity, std::min(2 * capacity, config.context));
}

int64_t device_capacity(int64_t positions) { return round_up(positions, kPositionsTogether); }

MatrixForm form_of(const std::string& matrix, int64_t first, const Variant& variant) {
  MatrixForm form{matrix,
                  first,
                  variant.weight_type.value_or(WeightType::kFloat),
                  variant.weights.value_or(Storage::kBuffer),
                  0,
                  stores_half(variant.precision)};
  if (form.storage == Storage::kBuffer) form.pack = variant.manifest->pack;
  return form;
}

TensorRole matrix_role(const DecoderCall& call, const std::string& matrix) {
  const DecoderCall* of = &call;
  for (const DecoderCall& part : call.parts) {
    if (is_of_all_layers(matrix) && part.matrix() == of_layer(matrix, 0)) of = &part;
  }
  return {
      .name = "w", .kind = TensorKind::kWeights, .cin = of->dims.at("K"), .cout = of->dims.at("N")};
}

std::vector<std::string> each_of(const std::string& matrix, int64_t layers) {
  if (!is_of_all_layers(matrix)) return {matrix};
  std::vector<std::string> names;
  for (int64_t layer = 0; layer < layers; ++layer) names.push_back(of_layer(matrix, layer));
  return names;
}

bool lie_together(const DecoderCall& call, const Variant& variant, const DeviceFeatures& limits,
                  int64_t positions) {
  const auto layers = call.dims.find("L");
  if (layers == call.dims.end()) return true;
  const auto fits = [&](size_t bytes, int64_t parts) {
    const int64_t most = limits.largest_buffer > 0 ? limits.largest_buffer : INT64_MAX;
    const auto slack = static_cast<int64_t>(kBufferSlack);
    return bytes % kPartAlign == 0 && static_cast<int64_t>(bytes) <= (most - slack) / parts;
  };
  for (const std::string& matrix : call.matrices()) {
    const MatrixForm form = form_of(matrix, 0, variant);
    const PackedSize size = packed_size(matrix_role(call, matrix), variant.precision, form.type,
                                        form.storage, form.pack);
    const bool both = fits(size.data, layers->second) && fits(size.scales, layers->second);
    if (form.storage != Storage::kBuffer || !both) return false;
  }
  const TensorRole row{.c = call.dims.at("KV") * call.dims.at("D")};
  const size_t together =
      activation_bytes(row, variant.precision) * static_cast<size_t>(kPositionsTogether);
  return fits(together, layers->second * (device_capacity(positions) / kPositionsTogether));
}

size_t state_bytes(std::span<const TensorRole> roles) {
  const auto state = std::ranges::find(roles, TensorKind::kState, &TensorRole::kind);
  return state == roles.end() ? 0 : sizeof(int32_t) * static_cast<size_t>(state->c);
}

TensorRole buffer_role(const DecoderBuffer& buffer, int64_t rows) {
  return {.name = buffer.name, .h = rows, .c = buffer.columns};
}

TensorRole logits_role(int64_t columns) { return {.name = "logits", .h = 1, .c = columns}; }

Result<DecoderMemory> DecoderMemory::of(std::span<const PlannedCall> calls, const LlmConfig& config,
                                        const LlmWeights& weights, Precision activations) {
  DecoderMemory memory;
  std::set<MatrixForm> forms;
  std::set<std::string> vectors;
  bool joint = false;  // caches of all layers are one
  for (const auto& [call, variant] : calls) {
    CLVET_RETURN_IF_ERROR(memory.add_vectors(*call, *variant, weights, vectors));
    for (const std::string& matrix : call->matrices()) {
      TensorRole role = matrix_role(*call, matrix);
      role.n = 0;
      for (const std::string& each : each_of(matrix, config.layers))
        role.n += forms.insert(form_of(each, call->first, *variant)).second ? 1 : 0;
      const MatrixForm form = form_of(matrix, call->first, *variant);
      if (role.n > 0) memory.add_matrix(role, form, variant->precision);
    }
    for (const auto& [role, name] : call->tensors) {
      if (role == "k" || role == "v") joint |= is_of_all_layers(name);
    }
    CLVET_ASSIGN_OR_RETURN(const auto roles, find_op_contract(call->op)->roles(call->dims));
    if (const size_t state = state_bytes(roles); state > 0)
      memory.steps_.push_back(buffer_row("state", state));
    const auto to = call->tensors.find("y");
    if (to == call->tensors.end() || to->second != "logits") continue;
    const TensorRole logits = logits_role(call->dims.at("N"));
    memory.steps_.push_back(buffer_row("logits", activation_bytes(logits, activations)));
  }
  for (const DecoderBuffer& buffer : decoder_buffers(config)) {
    if (buffer.name == "logits") continue;
    if (!buffer.cache || !joint) {
      memory.add_buffer(buffer, activations);
    } else if (buffer.name == of_layer(of_all_layers(buffer.name), 0)) {
      memory.add_joint(buffer, config.layers, activations);
    }
  }
  return memory;
}

void DecoderMemory::add_buffer(const DecoderBuffer& buffer, Precision activations) {
  if (buffer.cache) {
    Row row = buffer_row(buffer.name, 0);
    row.bytes_a_position =
        static_cast<int64_t>(activation_bytes(buffer_role(buffer, 1), activations));
    caches_.push_back(std::move(row));
  } else {
    const TensorRole role = buffer_role(buffer, kRowsOfAStep);
    steps_.push_back(buffer_row(buffer.name, activation_bytes(role, activations)));
  }
}

void DecoderMemory::add_joint(const DecoderBuffer& of_first, int64_t layers,
                              Precision activations) {
  Row row = buffer_row(of_all_layers(of_first.name), 0);
  row.bytes_a_position =
      layers * static_cast<int64_t>(activation_bytes(buffer_role(of_first, 1), activations));
  caches_.push_back(std::move(row));
}

DecoderMemory::Row DecoderMemory::buffer_row(const std::string& name, size_t bytes) {
  return {name, static_cast<int64_t>(bytes + kBufferSlack), 0};
}

Status DecoderMemory::add_vectors(const DecoderCall& call, const Variant& variant,
                                  const LlmWeights& weights, std::set<std::string>& known) {
  for (const ArgSpec& arg : variant.manifest->args) {
    const auto name = call.tensors.find(arg.name);
    if (arg.kind != ArgKind::kVector || name == call.tensors.end()) continue;
    if (!known.insert(name->second).second) continue;
    CLVET_ASSIGN_OR_RETURN(const int64_t fixed, weights.vector_length(name->second, 0));
    CLVET_ASSIGN_OR_RETURN(const int64_t with_one, weights.vector_length(name->second, 1));
    Row row = buffer_row(name->second, vector_bytes(fixed));
    row.bytes_a_position = (with_one - fixed) * static_cast<int64_t>(sizeof(float));
    weights_.push_back(std::move(row));
  }
  return {};
}

void DecoderMemory::add_matrix(const TensorRole& role, const MatrixForm& form,
                               Precision precision) {
  const PackedSize size = packed_size(role, precision, form.type, form.storage, form.pack);
  const size_t slack = form.storage == Storage::kBuffer ? kBufferSlack : 0;
  weights_.push_back({form.matrix, static_cast<int64_t>(size.data + slack), 0});
  if (size.scales > 0) weights_.push_back(buffer_row(form.matrix + " (scales)", size.scales));
}

int64_t DecoderMemory::weight_bytes() const {
  int64_t sum = 0;
  for (const Row& row : weights_) sum += row.bytes;
  return sum;
}

int64_t DecoderMemory::cache_bytes(int64_t capacity) const {
  int64_t sum = 0;
  for (const Row& row : caches_) sum += row.of_positions(capacity);
  return sum;
}

int64_t DecoderMemory::bytes(int64_t capacity) const {
  int64_t sum = 0;
  for (const auto* rows : {&weights_, &steps_, &caches_}) {
    for (const Row& row : *rows) sum += row.bytes + row.of_positions(capacity);
  }
  return sum;
}

DecoderMemory::Piece DecoderMemory::largest(int64_t capacity) const {
  Piece largest;
  for (const auto* rows : {&weights_, &steps_, &caches_}) {
    for (const Row& row : *rows) {
      const int64_t bytes = row.bytes + row.of_positions(capacity);
      if (bytes > largest.bytes) largest = {row.name, bytes};
    }
  }
  return largest;
}

std::string DecoderMemory::misfit(const DeviceFeatures& limits, int64_t capacity) const {
  const Piece piece = largest(capacity);
  if (limits.largest_buffer > 0 && piece.bytes > limits.largest_buffer) {
    return fmt::format("'{}' needs {} bytes in one piece, but the device allows at most {}",
                       piece.name, piece.bytes, limits.largest_buffer);
  }
  const int64_t all = bytes(capacity);
  if (limits.memory > 0 && all > limits.memory) {
    return fmt::format(
        "the weights and the cache for {} positions need {} bytes, but the device has {}", capacity,
        all, limits.memory);
  }
  return {};
}

}  // namespace clvet
