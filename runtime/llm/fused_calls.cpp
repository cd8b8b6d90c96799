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

std::optional<DecoderCall> fused_at_front(Calls calls, const TakesFused& takes, size_t place) {
  for (const Rule& rule : kRules) {
    if (calls.size() < rule.length) continue;
    const Calls parts = calls.first(rule.length), later = calls.subspan(rule.length);
    std::optional<DecoderCall> call = rule.fused(parts);
    const bool apart = std::any_of(parts.begin(), std::prev(parts.end()), [&](const auto& part) {
      return is_read(later, tensor_of(part, "y"));
    });
    if (!call || apart) continue;
    call->parts.assign(parts.begin(), parts.end());
    if (takes(*call, place)) return call;
  }
  return std::nullopt;
}

}  // namespace

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
