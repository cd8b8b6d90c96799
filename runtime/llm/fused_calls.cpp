#include "runtime/llm/fused_calls.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/contract.h"
#include "runtime/llm/decoder_calls.h"

namespace clvet {
namespace {

using Calls = std::span<const DecoderCall>;

int64_t dim_of(const DecoderCall& call, const char* name) {
  const auto found = call.dims.find(name);
  return found == call.dims.end() ? 0 : found->second;
}
const std::string& tensor_of(const DecoderCall& call, const char* role) {
  return call.tensors.find(role)->second;
}

// That `next` reads in that role what `call` makes.
bool hands_on(const DecoderCall& call, const DecoderCall& next, const char* role) {
  const auto read = next.tensors.find(role);
  return read != next.tensors.end() && read->second == tensor_of(call, "y");
}

bool is_product(const DecoderCall& call) { return call.op == "gemv" && dim_of(call, "act") == 0; }

bool is_sum(const DecoderCall& call) {
  return call.op == "eltwise_binary" && dim_of(call, "code") == 0 && dim_of(call, "act") == 0 &&
         dim_of(call, "W") == 1 && dim_of(call, "C2") == dim_of(call, "C");
}

// The product alone as a fused call.
DecoderCall of_product(const DecoderCall& product) {
  DecoderCall call = product;
  call.op = "gemv_fused";
  for (const char* flag : {"norm", "gated", "add"}) call.dims[flag] = 0;
  call.dims["biased"] = tensor_of(product, "bias") != "zeros";
  call.scalars["epsilon"] = 0;
  call.tensors["scale"] = "zeros";
  call.tensors["r"] = tensor_of(product, "x");
  return call;
}

std::optional<DecoderCall> norm_and_product(Calls calls) {
  const DecoderCall &norm = calls[0], &product = calls[1];
  const bool one = norm.op == "rms_norm" && dim_of(norm, "M") == 1;
  if (!one || !is_product(product) || !hands_on(norm, product, "x")) return std::nullopt;
  DecoderCall call = of_product(product);
  call.dims["norm"] = 1;
  call.scalars["epsilon"] = norm.scalars.at("epsilon");
  call.tensors["scale"] = tensor_of(norm, "scale");
  call.tensors["x"] = call.tensors["r"] = tensor_of(norm, "x");
  return call;
}

std::optional<DecoderCall> norm_product_and_gate(Calls calls) {
  const DecoderCall& gate = calls[2];
  std::optional<DecoderCall> call = norm_and_product(calls);
  if (!call || gate.op != "glu" || !hands_on(calls[1], gate, "x")) return std::nullopt;
  call->dims["gated"] = 1;
  call->dims["act"] = dim_of(gate, "act");
  for (const auto& [name, value] : gate.scalars) call->scalars[name] = value;
  call->tensors["y"] = tensor_of(gate, "y");
  return call;
}

std::optional<DecoderCall> product_and_sum(Calls calls) {
  const DecoderCall &product = calls[0], &sum = calls[1];
  if (!is_product(product) || !is_sum(sum) || !hands_on(product, sum, "x2")) return std::nullopt;
  DecoderCall call = of_product(product);
  call.dims["add"] = 1;
  call.tensors["r"] = tensor_of(sum, "x1");
  call.tensors["y"] = tensor_of(sum, "y");
  return call;
}

std::optional<DecoderCall> rope_and_attention(Calls calls) {
  const DecoderCall &rope = calls[0], &attention = calls[1];
  const bool both = rope.op == "rope" && attention.op == "attention" && dim_of(rope, "M") == 1;
  if (!both || !hands_on(rope, attention, "q")) return std::nullopt;
  DecoderCall call = attention;
  call.op = "attention_rope";
  call.dims.insert(rope.dims.begin(), rope.dims.end());
  call.scalars.insert(rope.scalars.begin(), rope.scalars.end());
  call.tensors.erase("q");
  for (const auto& [role, name] : rope.tensors) {
    const bool cache = role == "k" || role == "v";
    if (role != "y") call.tensors[cache ? "new_" + role : role] = name;
  }
  return call;
}

std::optional<DecoderCall> product_and_attention(Calls calls) {
  const std::optional<DecoderCall> product = norm_and_product(calls.first(2));
  const std::optional<DecoderCall> attention = rope_and_attention(calls.subspan(2));
  if (!product || !attention || !hands_on(calls[1], calls[2], "x")) return std::nullopt;
  if (dim_of(*attention, "norm") != 0) return std::nullopt;
  DecoderCall call = *attention;
  call.op = "attention_qkv";
  call.dims.erase("norm");
  for (const char* name : {"N", "K", "biased"}) call.dims[name] = product->dims.at(name);
  call.scalars["epsilon"] = product->scalars.at("epsilon");
  for (const char* role : {"x", "w", "bias"}) call.tensors[role] = product->tensors.at(role);
  call.tensors["norm_scale"] = product->tensors.at("scale");
  for (const char* role : {"q_scale", "k_scale"}) call.tensors.erase(role);
  return call;
}

// One layer's calls: norm, qkv, rope, attention; o, sum; norm, gate and up, gate; down, sum.
constexpr size_t kCallsOfALayer = 11;
struct LayerCalls {
  DecoderCall attention, o, gate_up, down;
};

// Its names are those of all layers.
std::optional<DecoderCall> named_alike(std::optional<DecoderCall> call) {
  if (!call) return call;
  for (auto& [role, name] : call->tensors) name = of_all_layers(name);
  call->name = of_all_layers(call->name);
  return call;
}

std::optional<LayerCalls> layer_at_front(Calls calls) {
  if (calls.size() < kCallsOfALayer) return std::nullopt;
  auto attention = named_alike(product_and_attention(calls.first(4)));
  auto o = named_alike(product_and_sum(calls.subspan(4, 2)));
  auto gate_up = named_alike(norm_product_and_gate(calls.subspan(6, 3)));
  auto down = named_alike(product_and_sum(calls.subspan(9, 2)));
  if (!attention || !o || !gate_up || !down) return std::nullopt;
  return LayerCalls{std::move(*attention), std::move(*o), std::move(*gate_up), std::move(*down)};
}

bool same(const DecoderCall& a, const DecoderCall& b) {
  return a.name == b.name && a.dims == b.dims && a.scalars == b.scalars && a.tensors == b.tensors;
}

// What the products of a layer hand on is what decoder_layers hands on.
bool hand_on(const LayerCalls& layer) {
  const std::string &x = tensor_of(layer.attention, "x"), &between = tensor_of(layer.o, "y");
  const bool biased =
      dim_of(layer.o, "biased") || dim_of(layer.gate_up, "biased") || dim_of(layer.down, "biased");
  return !biased && tensor_of(layer.o, "x") == tensor_of(layer.attention, "y") &&
         tensor_of(layer.o, "r") == x && tensor_of(layer.gate_up, "x") == between &&
         tensor_of(layer.down, "x") == tensor_of(layer.gate_up, "y") &&
         tensor_of(layer.down, "r") == between && tensor_of(layer.down, "y") == x &&
         layer.attention.scalars.at("epsilon") == layer.gate_up.scalars.at("epsilon");
}

DecoderCall of_layers(const LayerCalls& layer, const std::string& qkv, int64_t layers) {
  const auto& [attention, o, gate_up, down] = layer;
  DecoderCall call;
  call.name = "layers";
  call.op = "decoder_layers";
  for (const char* name : {"H", "KV", "D", "P", "cap", "window", "halves", "biased"})
    call.dims[name] = dim_of(attention, name);
  call.dims["L"] = call.dims["count"] = layers;
  call.dims["first"] = 0;
  call.dims["C"] = dim_of(attention, "K");
  call.dims["F"] = dim_of(down, "K");
  call.dims["act"] = dim_of(gate_up, "act");
  call.scalars = gate_up.scalars;
  call.scalars["scale"] = attention.scalars.at("scale");
  for (const char* role : {"x", "k", "v", "new_k", "new_v", "cosines", "sines", "bias"})
    call.tensors[role] = tensor_of(attention, role);
  call.tensors["attn_scale"] = tensor_of(attention, "norm_scale");
  call.tensors["ffn_scale"] = tensor_of(gate_up, "scale");
  call.tensors["w_qkv"] = tensor_of(attention, "w");
  call.tensors["w_o"] = tensor_of(o, "w");
  call.tensors["w_gate_up"] = tensor_of(gate_up, "w");
  call.tensors["w_down"] = tensor_of(down, "w");
  call.tensors["qkv"] = qkv;
  call.tensors["attended"] = tensor_of(attention, "y");
  call.tensors["between"] = tensor_of(o, "y");
  call.tensors["gated"] = tensor_of(gate_up, "y");
  call.tensors["y"] = tensor_of(down, "y");
  return call;
}

// From the first layer's first call on.
std::optional<DecoderCall> layers_at_front(Calls calls) {
  if (calls.empty() || !calls.front().name.starts_with("0.")) return std::nullopt;
  const std::optional<LayerCalls> first = layer_at_front(calls);
  if (!first || !hand_on(*first) || calls.front().op != "rms_norm") return std::nullopt;
  int64_t layers = 1;
  for (;; ++layers) {
    const Calls rest = calls.subspan(static_cast<size_t>(layers) * kCallsOfALayer);
    if (rest.empty() || of_all_layers(rest.front().name) == rest.front().name) break;
    const std::optional<LayerCalls> next = layer_at_front(rest);
    const bool alike = next && same(next->attention, first->attention) && same(next->o, first->o) &&
                       same(next->gate_up, first->gate_up) && same(next->down, first->down);
    if (!alike) return std::nullopt;
  }
  DecoderCall call = of_layers(*first, tensor_of(calls[1], "y"), layers);
  const Calls parts = calls.first(static_cast<size_t>(layers) * kCallsOfALayer);
  call.parts.assign(parts.begin(), parts.end());
  return call;
}

struct Rule {
  size_t length;
  std::optional<DecoderCall> (*fused)(Calls calls);
};
constexpr std::array kRules = {Rule{4, product_and_attention}, Rule{3, norm_product_and_gate},
                               Rule{2, norm_and_product}, Rule{2, product_and_sum},
                               Rule{2, rope_and_attention}};

// Whether one of the calls reads the buffer before another writes it.
bool is_read(Calls calls, const std::string& buffer) {
  for (const DecoderCall& call : calls) {
    bool written = false;
    for (const auto& [role, name] : call.tensors) {
      if (name != buffer) continue;
      if (!call.writes(role)) return true;
      written = true;
    }
    if (written) return false;
  }
  return false;
}

// Whether what one of the parts hands on is read later, and not what the fused call writes.
bool are_apart(const DecoderCall& call, Calls parts, Calls later) {
  const auto writes = [&](const std::string& buffer) {
    return std::ranges::any_of(call.tensors, [&](const auto& tensor) {
      return tensor.second == buffer && call.writes(tensor.first);
    });
  };
  return std::any_of(parts.begin(), std::prev(parts.end()), [&](const auto& part) {
    const std::string& made = tensor_of(part, "y");
    return !writes(made) && is_read(later, made);
  });
}

std::optional<DecoderCall> fused_at_front(Calls calls, const TakesFused& takes, size_t place) {
  std::optional<DecoderCall> layers = layers_at_front(calls);
  if (layers && !are_apart(*layers, layers->parts, calls.subspan(layers->parts.size())) &&
      takes(*layers, place)) {
    return layers;
  }
  for (const Rule& rule : kRules) {
    if (calls.size() < rule.length) continue;
    const Calls parts = calls.first(rule.length), later = calls.subspan(rule.length);
    std::optional<DecoderCall> call = rule.fused(parts);
    if (!call || are_apart(*call, parts, later)) continue;
    call->parts.assign(parts.begin(), parts.end());
    if (takes(*call, place)) return call;
  }
  return std::nullopt;
}

}  // namespace

std::span<const DecoderCall> parts_of_layer(const DecoderCall& layers, int64_t layer) {
  return Calls(layers.parts).subspan(static_cast<size_t>(layer) * kCallsOfALayer, kCallsOfALayer);
}

std::vector<DecoderCall> fuse(std::vector<DecoderCall> calls, const TakesFused& takes) {
  std::vector<DecoderCall> made;
  for (size_t i = 0; i < calls.size();) {
    auto fused = fused_at_front(Calls(calls).subspan(i), takes, made.size());
    i += fused ? fused->parts.size() : 1;
    made.push_back(fused ? std::move(*fused) : std::move(calls[i - 1]));
  }
  return made;
}

}  // namespace clvet
