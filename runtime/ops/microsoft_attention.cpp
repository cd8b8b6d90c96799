// Attention and MultiHeadAttention of com.microsoft without a past: ONNX's Attention, with queries,
// keys and values made from one input or given, and a mask of keys in place of an addend.
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_microsoft_attention {
namespace {

// What a key that does not count gets added to its score.
constexpr double kFiltered = -10000;

// Where each input is, and the first one of the past.
struct Layout {
  size_t mask, addend, past;
};
constexpr Layout kOne{3, 5, 4};
constexpr Layout kMany{4, 5, 6};

struct Operands {
  Term q, k, v;
};

bool is_flat(const Shape& shape) { return shape.size() == 3; }

// Its input times weights, cut into three.
Operands from_one(Steps& s) {
  const OpCall& call = s.call();
  const Shape &x = call.shape(0), &w = call.shape(1);
  if (!is_flat(x)) s.refuse(bad_shape(call, 0));
  if (w.size() != 2 || (s.ok() && w[0] != x[2])) s.refuse(misfit(call, 0, 1));
  if (!s.ok()) return {};
  std::vector<int64_t> widths(3, w[1] / 3);
  if (const auto* given = call.node.ints_attr("qkv_hidden_sizes")) widths = *given;
  if (widths.size() != 3 || std::accumulate(widths.begin(), widths.end(), int64_t{0}) != w[1]) {
    s.refuse(bad_attribute(call, "qkv_hidden_sizes"));
    return {};
  }
  Term all = s.one("MatMul", {s.input(0), s.input(1)});
  if (call.has(2)) {
    if (call.shape(2) != Shape{w[1]}) s.refuse(misfit(call, 1, 2));
    all = s.one("Add", {all, s.input(2)});
  }
  const std::vector<Term> parts = s.cut(all, widths);
  return {parts[0], parts[1], parts[2]};
}

// Given, with a bias for all three.
Operands from_many(Steps& s) {
  const OpCall& call = s.call();
  for (size_t i = 0; i < 3; ++i) {
    if (!call.has(i)) {
      s.refuse(missing_input(call, i));
      return {};
    }
    if (!is_flat(call.shape(i))) s.refuse(bad_shape(call, i));
  }
  Operands x{s.input(0), s.input(1), s.input(2)};
  if (!call.has(3) || !s.ok()) return x;
  const std::vector<int64_t> widths{x.q.shape()[2], x.k.shape()[2], x.v.shape()[2]};
  if (call.shape(3) != Shape{widths[0] + widths[1] + widths[2]}) {
    s.refuse(misfit(call, 0, 3));
    return {};
  }
  const std::vector<Term> bias = s.cut(s.input(3), widths);
  return {s.one("Add", {x.q, bias[0]}), s.one("Add", {x.k, bias[1]}), s.one("Add", {x.v, bias[2]})};
}

// [batch,1,1 or queries,keys] of truth values from a mask [batch,keys], [batch,queries,keys] or,
// of lengths, [batch].
Term counts(Steps& s, size_t mask, const Operands& x) {
  const OpCall& call = s.call();
  const int64_t batch = x.k.shape()[0], queries = x.q.shape()[1], keys = x.k.shape()[1];
  const Term given = s.input(mask);
  if (given.shape() == Shape{batch}) {
    std::vector<int32_t> each(static_cast<size_t>(keys));
    std::iota(each.begin(), each.end(), 0);
    const Term places =
        constant_term(Tensor::from({1, 1, 1, keys}, std::span<const int32_t>(each)));
    return s.one("Less", {places, s.reshaped(given, {batch, 1, 1, 1})});
  }
  Shape shape;
  if (given.shape() == Shape{batch, keys}) shape = {batch, 1, 1, keys};
  if (given.shape() == Shape{batch, queries, keys}) shape = {batch, 1, queries, keys};
  if (shape.empty()) {
    s.refuse(misfit(call, 0, mask));
    return no_term();
  }
  const Term zero = constant_term(Tensor::scalar<int32_t>(0));
  return s.one("Greater", {s.reshaped(given, shape), zero});
}

Term scalar_like(const Term& x, double value) {
  return constant_term(Tensor::scalar(static_cast<float>(value)).cast(x.type.dtype).value());
}

// What is added to the scores: absent, an input, what a mask makes, or the sum of both.
Term addend(Steps& s, const Layout& at, const Operands& x) {
  const OpCall& call = s.call();
  const Term given = s.input(at.addend);
  if (!call.has(at.mask)) return given;
  if (call.type(at.mask).dtype != DType::kI32) {
    s.refuse(bad_type(call, at.mask));
    return no_term();
  }
  const Term kept = counts(s, at.mask, x);
  const double filtered = call.node.float_attr("mask_filter_value", kFiltered);
  const Term made = s.one("Where", {kept, scalar_like(x.q, 0), scalar_like(x.q, filtered)});
  return given.present ? s.one("Add", {made, given}) : made;
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const bool many = call.node.op == "MultiHeadAttention";
  const Layout& at = many ? kMany : kOne;
  for (size_t i = at.past; i < call.inputs.size(); ++i) {
    if (call.has(i) && i != at.addend) return s.refuse(unsupported_input(call, i));
  }
  if (call.node.int_attr("do_rotary", 0) != 0) return s.refuse(bad_attribute(call, "do_rotary", 1));
  const int64_t heads = call.node.int_attr("num_heads", 0);
  if (heads < 1) return s.refuse(bad_attribute(call, "num_heads", heads));
  if (!many && !call.has(1)) return s.refuse(missing_input(call, 1));
  const Operands x = many ? from_many(s) : from_one(s);
  if (!s.ok()) return {};
  Attributes how = {{"q_num_heads", heads},
                    {"kv_num_heads", heads},
                    {"is_causal", call.node.int_attr("unidirectional", 0)}};
  if (const double scale = call.node.float_attr("scale", 0); scale != 0) how["scale"] = scale;
  return {s.one("Attention", {x.q, x.k, x.v, addend(s, at, x)}, how)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Attention", "MultiHeadAttention"},
    .domain = kMicrosoft,
    .inputs = "T T? *? *? *? T? *? *? *? *?",
    .types = "s",
    .attributes =
        "do_rotary:i mask_filter_value:f num_heads:i past_present_share_buffer:i "
        "qkv_hidden_sizes:I rotary_embedding_dim:i scale:f unidirectional:i",
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
};

}  // namespace clvet::op_microsoft_attention
