#include "runtime/precision/decoder_emulation.h"

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
#include "runtime/llm/decoder_calls.h"
#include "runtime/llm/host_decoder.h"
#include "runtime/llm/llm_config.h"
#include "runtime/llm/weights.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {
namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

// Whose roundings are emulated: not matrices, which are stored as they are, nor what is the same in
// every model.
bool is_rounded_vector(const std::string& role, const std::string& name) {
  return role != "w" && name != "zeros" && !name.starts_with("cos_") && !name.starts_with("sin_");
}

// `call` with a residual stream of another size.
DecoderCall scaled(DecoderCall call, double factor) {
  const auto x = call.tensors.find("x");
  if (call.op == "rms_norm" && x != call.tensors.end() && is_residual(x->second))
    call.scalars["epsilon"] *= factor * factor;
  return call;
}

}  // namespace

Result<std::unique_ptr<DecoderEmulation>> DecoderEmulation::create(const LlmConfig& config,
                                                                   const LlmWeights& weights,
                                                                   EmulationRules rules,
                                                                   int64_t capacity) {
  std::unique_ptr<DecoderEmulation> made(new DecoderEmulation(config, weights, rules));
  CLVET_ASSIGN_OR_RETURN(made->decoder_, HostDecoder::create(config, weights, kRows));
  CLVET_RETURN_IF_ERROR(made->decoder_->reserve(capacity));
  made->capacity_ = capacity;
  for (const DecoderBuffer& buffer : decoder_buffers(config))
    made->columns_[buffer.name] = {buffer.columns, buffer.cache};
  made->text(TextKind::kLow).buffers = made->decoder_->more_buffers();
  made->decoder_->exchange(made->text(TextKind::kExact).buffers);
  return made;
}

const std::vector<DecoderCall>& DecoderEmulation::calls(int64_t rows) {
  std::vector<DecoderCall>& calls = calls_[rows];
  if (calls.empty()) calls = decoder_calls(config_, rows, capacity_, true);
  return calls;
}

std::vector<std::string> DecoderEmulation::roles_read(const DecoderCall& call) {
  std::vector<std::string> roles;
  for (const auto& [role, name] : call.tensors)
    if (!call.writes(role)) roles.push_back(role);
  return roles;
}

std::span<float> DecoderEmulation::values(TextKind kind, const std::string& buffer,
                                          DecoderStep step, bool written) {
  const auto [columns, cache] = columns_.at(buffer);
  const int64_t first = cache && written ? step.position : 0;
  const int64_t end = cache ? step.position + step.rows : step.rows;
  return std::span(text(kind).buffers.at(buffer))
      .subspan(at(first * columns), at((end - first) * columns));
}

std::vector<std::span<const float>> DecoderEmulation::written(TextKind kind,
                                                              const DecoderCall& call,
                                                              DecoderStep step) {
  std::vector<std::span<const float>> found;
  for (const auto& [role, name] : call.tensors)
    if (call.writes(role)) found.push_back(values(kind, name, step, true));
  return found;
}

std::span<const float> DecoderEmulation::vector(const std::string& name) const {
  const auto found = exact_.find(name);
  return found == exact_.end() ? std::span<const float>{} : found->second;
}

Status DecoderEmulation::begin(TextKind kind, std::span<const int32_t> tokens) {
  CLVET_ASSIGN_OR_RETURN(std::vector<float> hidden, weights_.embeddings(tokens));
  if (kind == TextKind::kLow) {
    for (float& value : hidden) value *= static_cast<float>(residual_);
    round_to(rules_.format, hidden);
  }
  std::ranges::copy(hidden, text(kind).buffers.at("hidden").begin());
  text(kind).wide.erase("hidden");
  return {};
}

// Between the exact ones and those that are stored.
Status DecoderEmulation::exchange_vectors(const DecoderCall& call, const Rounded& rounded) {
  if (rules_.float_vectors) return {};
  const auto roles = roles_read(call);
  for (size_t i = 0; i < roles.size(); ++i) {
    const std::string& name = call.tensors.find(roles[i])->second;
    if (is_buffer(name) || !is_rounded_vector(roles[i], name)) continue;
    if (!rounded.rounds_constant(static_cast<int>(i))) continue;
    std::vector<float>& stored = stored_[name];
    if (stored.empty()) {
      CLVET_ASSIGN_OR_RETURN(exact_[name], weights_.vector(name, capacity_));
      stored = exact_[name];
      round_to(rules_.format, stored);
    }
    CLVET_RETURN_IF_ERROR(decoder_->exchange(name, stored));
  }
  return {};
}

Status DecoderEmulation::execute(Text& text, const DecoderCall& call, DecoderStep step,
                                 const Rounded& rounded) {
  CLVET_RETURN_IF_ERROR(exchange_vectors(call, rounded));
  if (rounded.inner && !rules_.float_vectors) {
    decoder_->hold_squares([format = rules_.format](double sum) {
      auto held = static_cast<float>(sum);
      round_to(format, {&held, 1});
      return static_cast<double>(held);
    });
  }
  decoder_->exchange(text.buffers);
  const Status ran = decoder_->run(call, step.rows, step.position);
  decoder_->exchange(text.buffers);
  decoder_->hold_squares(nullptr);
  CLVET_RETURN_IF_ERROR(exchange_vectors(call, rounded));
  return ran;
}

Status DecoderEmulation::run(TextKind kind, const DecoderCall& call, DecoderStep step,
                             bool raised) {
  if (kind == TextKind::kExact) return execute(text(kind), call, step, Rounded::nothing());
  Text& low = text(kind);
  Kept kept;
  for (const auto& [role, name] : call.tensors) {
    if (raised || call.writes(role) || !low.wide.contains(name)) continue;
    const auto read = values(kind, name, step, false);
    kept.emplace_back(read, std::vector<float>(read.begin(), read.end()));
    round_to(rules_.format, read);
  }
  CLVET_RETURN_IF_ERROR(
      execute(low, scaled(call, residual_), step, raised ? Rounded::nothing() : Rounded()));
  for (auto& [place, exact] : kept) std::ranges::copy(exact, place.begin());
  rescale(call, step);
  for (const auto& [role, name] : call.tensors) {
    if (!call.writes(role)) continue;
    if (raised) {
      low.wide.insert(name);
    } else {
      low.wide.erase(name);
      round_to(rules_.format, values(kind, name, step, true));
    }
  }
  return {};
}

// A power of two in a norm's scales is the same in its result.
void DecoderEmulation::rescale(const DecoderCall& call, DecoderStep step) {
  const auto scale = call.tensors.find("scale");
  const bool before_sum = scale != call.tensors.end() && scale->second.ends_with("_post_norm");
  if (residual_ == 1 || !before_sum) return;
  for (float& value : values(TextKind::kLow, call.tensors.find("y")->second, step, true))
    value *= static_cast<float>(residual_);
}

Result<std::vector<std::vector<float>>> DecoderEmulation::alone(const DecoderCall& call,
                                                                DecoderStep step,
                                                                const Rounded& rounded,
                                                                Round round) {
  Kept kept;
  const auto keep = [&](std::span<float> values) {
    kept.emplace_back(values, std::vector<float>(values.begin(), values.end()));
  };
  const auto roles = roles_read(call);
  for (size_t i = 0; i < roles.size(); ++i) {
    const std::string& name = call.tensors.find(roles[i])->second;
    if (!is_buffer(name) || !rounded.rounds_input(static_cast<int>(i))) continue;
    keep(values(TextKind::kExact, name, step, false));
    round(rules_.format, kept.back().first);
  }
  const size_t inputs = kept.size();
  for (const auto& [role, name] : call.tensors)
    if (call.writes(role)) keep(values(TextKind::kExact, name, step, true));
  const Status ran = execute(text(TextKind::kExact), call, step, rounded);
  std::vector<std::vector<float>> found;
  for (size_t i = 0; i < kept.size(); ++i) {
    auto& [place, exact] = kept[i];
    if (i >= inputs) {
      found.emplace_back(place.begin(), place.end());
      if (rounded.outputs) round_to(rules_.format, found.back());
    }
    std::ranges::copy(exact, place.begin());
  }
  CLVET_RETURN_IF_ERROR(ran);
  return found;
}

}  // namespace clvet
