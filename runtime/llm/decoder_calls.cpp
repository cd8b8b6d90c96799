#include "runtime/llm/decoder_calls.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/contract.h"
#include "runtime/llm/fused_calls.h"
#include "runtime/llm/llm_config.h"

#include <fmt/format.h>

namespace clvet {
namespace {

const Scalars kNoActivation = {{"act_lo", 0.0}, {"act_hi", 0.0}};

class Writer {
 public:
  Writer(const LlmConfig& config, int64_t rows, int64_t capacity)
      : config_(config), rows_(rows), capacity_(capacity) {}

  void norm(const std::string& from, const std::string& scale, const std::string& to) {
    const double square = config_.residual_scale * config_.residual_scale;
    calls_.push_back({scale,
                      "rms_norm",
                      {{"M", rows_}, {"W", 1}, {"C", config_.width}},
                      {{"epsilon", config_.norm_eps * (is_residual(from) ? square : 1)}},
                      {{"x", from}, {"scale", scale}, {"y", to}}});
  }

  void product(const std::string& from, const std::string& matrix, const std::string& to,
               int64_t inputs, int64_t outputs, const std::string& bias = "zeros",
               int64_t first = 0) {
    DecoderCall call{matrix,        "gemv", {{"N", outputs}, {"K", inputs}, {"act", 0}},
                     kNoActivation, {},     first};
    if (first > 0) call.name += fmt::format("@{}", first);
    if (rows_ > 1) {
      call.op = "gemm";
      call.dims["M"] = rows_;
      call.dims["W"] = 1;
    }
    call.tensors = {{"x", from}, {"w", matrix}, {"bias", bias}, {"y", to}};
    calls_.push_back(std::move(call));
  }

  void rope(int64_t layer, const std::string& prefix) {
    const std::string reach = config_.windowed(layer) ? "local" : "global";
    DecoderCall call{prefix + "rope", "rope", heads(), {{"epsilon", config_.norm_eps}}, {}};
    call.dims["halves"] = config_.rope == RopeKind::kNeox;
    call.dims["norm"] = config_.qk_norm;
    call.tensors = {{"x", "qkv"},
                    {"cosines", "cos_" + reach},
                    {"sines", "sin_" + reach},
                    {"q_scale", config_.qk_norm ? prefix + "q_norm" : "zeros"},
                    {"k_scale", config_.qk_norm ? prefix + "k_norm" : "zeros"},
                    {"y", "query"},
                    {"k", prefix + "k"},
                    {"v", prefix + "v"}};
    calls_.push_back(std::move(call));
  }

  void attention(int64_t layer, const std::string& prefix) {
    DecoderCall call{
        prefix + "attention", "attention", heads(), {{"scale", config_.attention_scale}}, {}};
    call.dims["window"] = config_.windowed(layer) ? config_.window : 0;
    call.tensors = {{"q", "query"}, {"k", prefix + "k"}, {"v", prefix + "v"}, {"y", "attended"}};
    calls_.push_back(std::move(call));
  }

  void gate(const std::string& prefix) {
    calls_.push_back({prefix + "glu",
                      "glu",
                      {{"M", rows_},
                       {"W", 1},
                       {"F", config_.ff},
                       {"act", static_cast<int64_t>(config_.activation)}},
                      kNoActivation,
                      {{"x", "gate_up"}, {"y", "gated"}}});
  }

  // hidden + what -> to.
  void add(const std::string& prefix, const std::string& from, const std::string& what,
           const std::string& to) {
    const int64_t c = config_.width;
    calls_.push_back({prefix + "add_to_" + to,
                      "eltwise_binary",
                      {{"N", 1},
                       {"H", 1},
                       {"W", rows_},
                       {"C", c},
                       {"N2", 1},
                       {"H2", 1},
                       {"W2", rows_},
                       {"C2", c},
                       {"code", 0},
                       {"act", 0}},
                      kNoActivation,
                      {{"x1", from}, {"x2", what}, {"y", to}}});
  }

  std::vector<DecoderCall> take() { return std::move(calls_); }

 private:
  Dims heads() const {
    return {{"M", rows_}, {"H", config_.heads}, {"KV", config_.kv_heads}, {"D", config_.head_dim},
            {"P", 0},     {"cap", capacity_}};
  }

  const LlmConfig& config_;
  int64_t rows_, capacity_;
  std::vector<DecoderCall> calls_;
};

void write_layer(const LlmConfig& config, int64_t layer, Writer& write) {
  const int64_t d = config.width, q = config.heads * config.head_dim;
  const int64_t qkv = q + 2 * config.kv_heads * config.head_dim;
  const std::string prefix = std::to_string(layer) + ".";
  write.norm("hidden", prefix + "attn_norm", "normed");
  write.product("normed", prefix + "qkv", "qkv", d, qkv,
                config.qkv_bias ? prefix + "qkv_bias" : "zeros");
  write.rope(layer, prefix);
  write.attention(layer, prefix);
  write.product("attended", prefix + "o", "delta", q, d);
  if (config.post_norms) write.norm("delta", prefix + "attn_post_norm", "normed");
  write.add(prefix, "hidden", config.post_norms ? "normed" : "delta", "between");
  write.norm("between", prefix + "ffn_norm", "normed");
  write.product("normed", prefix + "gate_up", "gate_up", d, 2 * config.ff);
  write.gate(prefix);
  write.product("gated", prefix + "down", "delta", config.ff, d);
  if (config.post_norms) write.norm("delta", prefix + "ffn_post_norm", "normed");
  write.add(prefix, "between", config.post_norms ? "normed" : "delta", "hidden");
}

void write_head(const LlmConfig& config, int64_t head_rows, Writer& write) {
  write.norm("hidden", "out_norm", "normed");
  const int64_t part = head_rows > 0 ? head_rows : config.vocab;
  for (int64_t first = 0; first < config.vocab; first += part) {
    const int64_t rows = std::min(part, config.vocab - first);
    write.product("normed", "head", "logits", config.width, rows, "zeros", first);
  }
}

}  // namespace

std::vector<DecoderBuffer> decoder_buffers(const LlmConfig& config) {
  const int64_t kv = config.kv_heads * config.head_dim, q = config.heads * config.head_dim;
  std::vector<DecoderBuffer> buffers = {{"hidden", config.width}, {"between", config.width},
                                        {"normed", config.width}, {"delta", config.width},
                                        {"qkv", q + 2 * kv},      {"query", q},
                                        {"attended", q},          {"gate_up", 2 * config.ff},
                                        {"gated", config.ff},     {"logits", config.vocab}};
  for (int64_t layer = 0; layer < config.layers; ++layer) {
    for (const char* which : {".k", ".v"}) {
      buffers.push_back({std::to_string(layer) + which, kv, true});
    }
  }
  return buffers;
}

std::vector<DecoderCall> decoder_calls(const LlmConfig& config, int64_t rows, int64_t capacity,
                                       bool answer, int64_t head_rows) {
  Writer write(config, rows, capacity);
  for (int64_t layer = 0; layer < config.layers; ++layer) write_layer(config, layer, write);
  if (answer) write_head(config, head_rows, write);
  return write.take();
}

std::vector<std::string> DecoderCall::matrices() const {
  std::vector<std::string> names;
  for (const auto& [role, name] : tensors) {
    if (role == "w" || role.starts_with("w_")) names.push_back(name);
  }
  return names;
}

bool DecoderCall::writes(std::string_view role) const {
  constexpr std::array of_layers = {"qkv", "attended", "between", "gated"};
  if (op == "decoder_layers" && std::ranges::find(of_layers, role) != of_layers.end()) return true;
  return role == "y" || role.starts_with("new_") || (op == "rope" && (role == "k" || role == "v"));
}

bool is_of_all_layers(std::string_view name) { return name.starts_with("*."); }

std::string of_all_layers(const std::string& name) {
  const size_t dot = name.find('.');
  const bool numbered =
      dot != std::string::npos && dot > 0 && name.find_first_not_of("0123456789") == dot;
  return numbered ? "*" + name.substr(dot) : name;
}

std::string of_layer(std::string_view of_all, int64_t layer) {
  return std::to_string(layer) + std::string(of_all.substr(1));
}

std::string call_of_part(const std::string& name) { return name.substr(0, name.find('@')); }

bool is_residual(const std::string& buffer) { return buffer == "hidden" || buffer == "between"; }

std::set<std::string> decoder_ops(const LlmConfig& config) {
  std::set<std::string> ops;
  for (const int64_t rows : {1, 2}) {
    for (const DecoderCall& call : decoder_calls(config, rows, rows, rows == 1))
      ops.insert(call.op);
    const auto note = [&](const DecoderCall& fused, size_t) { return ops.insert(fused.op), false; };
    fuse(decoder_calls(config, rows, rows, rows == 1), note);
  }
  return ops;
}

}  // namespace clvet
