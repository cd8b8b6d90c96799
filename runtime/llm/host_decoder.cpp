#include "runtime/llm/host_decoder.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "runtime/host/activation.h"
#include "runtime/host/dot.h"
#include "runtime/host/parallel.h"
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"

namespace clvet {
namespace {

constexpr int64_t kFirstPositions = 256;
// Rows of a matrix worth a thread of their own.
constexpr int64_t kRowGrain = 16;
// Rows that are unpacked together: as many as share what is read of the left matrix.
constexpr int64_t kRowsAtATime = 4;

size_t at(int64_t index) { return static_cast<size_t>(index); }

int64_t dim_of(const DecoderCall& call, const char* name) { return call.dims.find(name)->second; }
double scalar_of(const DecoderCall& call, const char* name) {
  return call.scalars.find(name)->second;
}

float inverse_rms(const float* x, int64_t count, double epsilon, const HostDecoder::HeldSum& held) {
  double squares = 0;
  for (int64_t i = 0; i < count; ++i) squares += static_cast<double>(x[i]) * x[i];
  if (held) squares = held(squares);
  return static_cast<float>(1 / std::sqrt(squares / static_cast<double>(count) + epsilon));
}

// The sum of each block of kQuantBlock values of x.
std::vector<float> block_sums(const float* x, int64_t count) {
  std::vector<float> sums(at(count / kQuantBlock));
  for (size_t b = 0; b < sums.size(); ++b) {
    for (size_t i = 0; i < at(kQuantBlock); ++i) sums[b] += x[b * at(kQuantBlock) + i];
  }
  return sums;
}

void normalise(const std::vector<float>& scale, double epsilon, const HostDecoder::HeldSum& held,
               std::vector<float>& head) {
  const float factor = inverse_rms(head.data(), static_cast<int64_t>(head.size()), epsilon, held);
  for (size_t i = 0; i < head.size(); ++i) head[i] *= factor * scale[i];
}

// Turns pairs of values: those of both halves of a head, or neighbours.
void rotate(const std::vector<float>& head, const float* cosines, const float* sines, bool halves,
            float* to) {
  const auto half = static_cast<int64_t>(head.size() / 2);
  for (int64_t e = 0; e < half; ++e) {
    const int64_t a = halves ? e : 2 * e, b = halves ? e + half : 2 * e + 1;
    to[a] = head[at(a)] * cosines[e] - head[at(b)] * sines[e];
    to[b] = head[at(b)] * cosines[e] + head[at(a)] * sines[e];
  }
}

void softmax(std::vector<float>& scores) {
  const float top = *std::max_element(scores.begin(), scores.end());
  for (float& score : scores) score -= top;
  activate({Act::kExp}, scores.data(), static_cast<int64_t>(scores.size()));
  float sum = 0;
  for (const float score : scores) sum += score;
  for (float& score : scores) score /= sum;
}

void add_scaled(float factor, const float* x, int64_t count, float* y) {
  for (int64_t i = 0; i < count; ++i) y[i] += factor * x[i];
}

}  // namespace

Result<std::unique_ptr<HostDecoder>> HostDecoder::witness(const LlmConfig& config,
                                                          const LlmWeights& weights, int64_t rows,
                                                          bool keeps_matrices) {
  std::unique_ptr<HostDecoder> decoder(new HostDecoder(config, weights));
  decoder->keeps_matrices_ = keeps_matrices;
  for (const DecoderBuffer& buffer : decoder_buffers(config)) {
    if (!buffer.cache) decoder->buffers_[buffer.name].resize(at(rows * buffer.columns));
  }
  CLVET_RETURN_IF_ERROR(decoder->reserve(std::min(kFirstPositions, config.context)));
  return decoder;
}

Result<std::unique_ptr<HostDecoder>> HostDecoder::create(const LlmConfig& config,
                                                         const LlmWeights& weights, int64_t rows) {
  CLVET_ASSIGN_OR_RETURN(auto decoder, witness(config, weights, rows, true));
  for (const DecoderCall& call : decoder_calls(config, 1, decoder->capacity_, true)) {
    CLVET_RETURN_IF_ERROR(decoder->fetch(call));
  }
  return decoder;
}

Status HostDecoder::reserve(int64_t capacity) {
  if (capacity <= capacity_) return {};
  capacity = std::max(capacity, std::min(2 * capacity_, config_.context));
  for (const DecoderBuffer& buffer : decoder_buffers(config_)) {
    if (buffer.cache) buffers_[buffer.name].resize(at(capacity * buffer.columns));
  }
  std::erase_if(vectors_, [](const auto& row) {
    return row.first.starts_with("cos_") || row.first.starts_with("sin_");
  });
  capacity_ = capacity;
  return {};
}

// What the call reads of the model, where it is not there yet.
Status HostDecoder::fetch(const DecoderCall& call) {
  for (const auto& [role, name] : call.tensors) {
    if (role == "w") {
      if (matrices_.contains(name)) continue;
      CLVET_ASSIGN_OR_RETURN(WeightMatrix matrix, weights_.matrix(name));
      if (matrix.type == WeightType::kInt4) pack_nibbles(matrix.quants);
      matrices_.emplace(name, std::move(matrix));
    } else if (!buffers_.contains(name) && !vectors_.contains(name)) {
      CLVET_ASSIGN_OR_RETURN(vectors_[name], weights_.vector(name, capacity_));
    }
  }
  return {};
}

const std::vector<float>& HostDecoder::read(const DecoderCall& call, const char* role) const {
  const std::string& name = call.tensors.find(role)->second;
  const auto buffer = buffers_.find(name);
  return buffer == buffers_.end() ? vectors_.at(name) : buffer->second;
}
float* HostDecoder::write(const DecoderCall& call, const char* role) {
  return buffers_.at(call.tensors.find(role)->second).data();
}

void HostDecoder::rms_norm(const DecoderCall& call) {
  const int64_t rows = dim_of(call, "M"), c = dim_of(call, "C");
  const float* x = read(call, "x").data();
  const float* scale = read(call, "scale").data();
  float* y = write(call, "y");
  for (int64_t m = 0; m < rows; ++m) {
    const float factor = inverse_rms(x + m * c, c, scalar_of(call, "epsilon"), held_);
    for (int64_t i = 0; i < c; ++i) y[m * c + i] = x[m * c + i] * factor * scale[i];
  }
}

void HostDecoder::product(const DecoderCall& call, int64_t rows) {
  const WeightMatrix& w = matrices_.at(call.matrix());
  const float* x = read(call, "x").data();
  const float* bias = read(call, "bias").data();
  float* y = write(call, "y");
  const int64_t k = w.columns, n = w.rows, blocks = k / kQuantBlock;
  const bool floats = w.type == WeightType::kFloat;
  const std::vector<float> sums = floats ? std::vector<float>{} : block_sums(x, k);
  const bool nibbles = w.type == WeightType::kInt4;
  const auto row = [&](int64_t i) {
    return BlockRow{w.quants.data() + i * (nibbles ? k / 2 : k), w.scales.data() + i * blocks,
                    w.offsets.data() + i * blocks, nibbles};
  };
  parallel_for(n, kRowGrain, [&](int64_t first, int64_t end) {
    if (!floats && rows == 1) {
      for (int64_t i = first; i < end; ++i)
        y[i] = bias[i] + dot_blocks(row(i), x, sums.data(), at(blocks));
      return;
    }
    std::vector<float> expanded(floats ? 0 : at(kRowsAtATime * k));
    for (int64_t i = first; i < end; i += kRowsAtATime) {
      const int64_t count = std::min(kRowsAtATime, end - i);
      for (int64_t r = i; !floats && r < i + count; ++r)
        expand_blocks(row(r), at(blocks), expanded.data() + (r - i) * k);
      const float* values = floats ? w.values.data() + i * k : expanded.data();
      dots_f32({values, count, k}, {x, rows, k}, at(k), y + i, 1, n);
      for (int64_t m = 0; m < rows; ++m) {
        for (int64_t r = i; r < i + count; ++r) y[m * n + r] += bias[r];
      }
    }
  });
}

void HostDecoder::rope(const DecoderCall& call, int64_t position) {
  const int64_t rows = dim_of(call, "M"), h = dim_of(call, "H"), kv = dim_of(call, "KV"),
                d = dim_of(call, "D");
  const bool halves = dim_of(call, "halves") == 1, norm = dim_of(call, "norm") == 1;
  const float* x = read(call, "x").data();
  float* queries = write(call, "y");
  float* keys = write(call, "k");
  float* values = write(call, "v");
  std::vector<float> head(at(d));
  for (int64_t m = 0; m < rows; ++m) {
    const int64_t p = position + m;
    const float* cosines = read(call, "cosines").data() + p * d / 2;
    const float* sines = read(call, "sines").data() + p * d / 2;
    for (int64_t i = 0; i < h + kv; ++i, x += d) {
      const bool query = i < h;
      const char* scale = query ? "q_scale" : "k_scale";
      float* to = query ? queries + (m * h + i) * d : keys + (p * kv + i - h) * d;
      std::copy(x, x + d, head.begin());
      if (norm) normalise(read(call, scale), scalar_of(call, "epsilon"), held_, head);
      rotate(head, cosines, sines, halves, to);
    }
    std::copy(x, x + kv * d, values + p * kv * d);
    x += kv * d;
  }
}

void HostDecoder::attention(const DecoderCall& call, int64_t position) {
  const int64_t rows = dim_of(call, "M"), h = dim_of(call, "H"), kv = dim_of(call, "KV"),
                d = dim_of(call, "D"), window = dim_of(call, "window");
  const auto scale = static_cast<float>(scalar_of(call, "scale"));
  const float* q = read(call, "q").data();
  const float* keys = read(call, "k").data();
  const float* values = read(call, "v").data();
  float* y = write(call, "y");
  parallel_for(rows * h, 1, [&](int64_t first, int64_t end) {
    std::vector<float> scores;
    for (int64_t i = first; i < end; ++i) {
      const int64_t p = position + i / h, own = i % h / (h / kv);
      const int64_t from = window > 0 ? std::max<int64_t>(0, p - window + 1) : 0;
      scores.resize(at(p + 1 - from));
      for (int64_t j = from; j <= p; ++j) {
        scores[at(j - from)] = scale * dot_f32(q + i * d, keys + (j * kv + own) * d, at(d));
      }
      softmax(scores);
      std::fill(y + i * d, y + (i + 1) * d, 0.f);
      for (int64_t j = from; j <= p; ++j) {
        add_scaled(scores[at(j - from)], values + (j * kv + own) * d, d, y + i * d);
      }
    }
  });
}

void HostDecoder::gate(const DecoderCall& call) {
  const int64_t rows = dim_of(call, "M"), f = dim_of(call, "F");
  const auto act = static_cast<Act>(dim_of(call, "act"));
  const float* x = read(call, "x").data();
  float* y = write(call, "y");
  for (int64_t m = 0; m < rows; ++m) {
    const float* row = x + 2 * m * f;
    std::copy(row, row + f, y + m * f);
    activate({act}, y + m * f, f);
    for (int64_t i = 0; i < f; ++i) y[m * f + i] *= row[f + i];
  }
}

void HostDecoder::add(const DecoderCall& call) {
  const int64_t count = dim_of(call, "W") * dim_of(call, "C");
  const float* a = read(call, "x1").data();
  const float* b = read(call, "x2").data();
  float* y = write(call, "y");
  for (int64_t i = 0; i < count; ++i) y[i] = a[i] + b[i];
}

Status HostDecoder::run(const DecoderCall& call, int64_t rows, int64_t position) {
  CLVET_RETURN_IF_ERROR(fetch(call));
  if (call.op == "rms_norm") {
    rms_norm(call);
  } else if (!call.matrix().empty()) {
    product(call, rows);
    if (!keeps_matrices_) matrices_.clear();
  } else if (call.op == "rope") {
    rope(call, position);
  } else if (call.op == "attention") {
    attention(call, position);
  } else if (call.op == "glu") {
    gate(call);
  } else if (call.op == "eltwise_binary") {
    add(call);
  } else {
    return fail(ErrorCode::kInternal, "the host cannot compute '{}'", call.op);
  }
  return {};
}

void HostDecoder::put(const std::string& name, int64_t first, std::span<const float> values) {
  std::copy(values.begin(), values.end(), buffers_.at(name).begin() + first);
}

HostBuffers HostDecoder::more_buffers() const {
  HostBuffers more;
  for (const auto& [name, values] : buffers_) more[name].resize(values.size());
  return more;
}

Status HostDecoder::exchange(const std::string& vector, std::vector<float>& values) {
  if (!vectors_.contains(vector)) {
    CLVET_ASSIGN_OR_RETURN(vectors_[vector], weights_.vector(vector, capacity_));
  }
  vectors_[vector].swap(values);
  return {};
}

Result<std::span<const float>> HostDecoder::step(std::span<const float> hidden, int64_t rows,
                                                 int64_t position, bool answer) {
  CLVET_RETURN_IF_ERROR(reserve(position + rows));
  std::copy(hidden.begin(), hidden.end(), buffers_.at("hidden").begin());
  for (const DecoderCall& call : decoder_calls(config_, rows, capacity_, answer)) {
    CLVET_RETURN_IF_ERROR(run(call, rows, position));
  }
  if (!answer) return std::span<const float>{};
  return std::span<const float>(buffers_.at("logits")).first(static_cast<size_t>(config_.vocab));
}

}  // namespace clvet
