// Attention of ONNX: scaled products of queries and keys, masked, as weights of the values.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/gemm.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/heads.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_attention {
namespace {

enum Input : size_t { kQ, kK, kV, kMask, kPastKey, kPastValue, kLengths };
// What output 3 holds; as the attribute qk_matmul_output_mode counts.
enum Stage : int64_t { kProducts, kMasked, kCapped, kWeights };

struct Problem {
  Heads q, k, v;
  int64_t past = 0;
  int64_t total() const { return past + k.length; }
  Heads y() const { return {q.batch, q.heads, q.length, v.size, q.flat}; }
};

Status check_past(const OpCall& call, Problem& p) {
  if (call.has(kPastKey) != call.has(kPastValue))
    return bad_shape(call, call.has(kPastKey) ? kPastKey : kPastValue);
  if (!call.has(kPastKey)) return {};
  if (call.shape(kPastKey).size() != 4) return bad_shape(call, kPastKey);
  p.past = call.shape(kPastKey)[2];
  if (call.shape(kPastKey) != Shape{p.k.batch, p.k.heads, p.past, p.k.size})
    return misfit(call, kK, kPastKey);
  if (call.shape(kPastValue) != Shape{p.v.batch, p.v.heads, p.past, p.v.size})
    return misfit(call, kV, kPastValue);
  return {};
}

// The mask's shape with four axes; its last one may be short of the keys.
Shape mask_shape(const OpCall& call) {
  Shape shape = call.shape(kMask);
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  return shape;
}

Status check_mask(const OpCall& call, const Problem& p) {
  if (call.has(kLengths) && call.type(kLengths).dtype != DType::kI64)
    return bad_type(call, kLengths);
  if (call.has(kLengths) && call.shape(kLengths) != Shape{p.q.batch})
    return misfit(call, kQ, kLengths);
  if (!call.has(kMask)) return {};
  const DType dtype = call.type(kMask).dtype;
  if (dtype != DType::kBool && dtype != call.type(kQ).dtype) return bad_type(call, kMask);
  if (call.shape(kMask).size() > 4 || call.shape(kMask).empty()) return bad_shape(call, kMask);
  const Shape mask = mask_shape(call);
  const Shape want{p.q.batch, p.q.heads, p.q.length};
  for (size_t i = 0; i < want.size(); ++i) {
    if (mask[i] != 1 && mask[i] != want[i]) return misfit(call, kQ, kMask);
  }
  if (mask[3] > p.total()) return misfit(call, kK, kMask);
  return {};
}

Result<Problem> problem_of(const OpCall& call) {
  Problem p;
  const int64_t q_heads = call.node.int_attr("q_num_heads", 0),
                kv_heads = call.node.int_attr("kv_num_heads", 0);
  if (!read_heads(call.shape(kQ), q_heads, p.q)) return bad_shape(call, kQ);
  if (!read_heads(call.shape(kK), kv_heads, p.k)) return bad_shape(call, kK);
  if (!read_heads(call.shape(kV), kv_heads, p.v)) return bad_shape(call, kV);
  if (p.q.batch != p.k.batch || p.q.size != p.k.size || p.k.heads < 1 ||
      p.q.heads % p.k.heads != 0 || p.q.flat != p.k.flat)
    return misfit(call, kQ, kK);
  if (p.v.batch != p.k.batch || p.v.heads != p.k.heads || p.v.length != p.k.length ||
      p.v.flat != p.k.flat)
    return misfit(call, kK, kV);
  CLVET_RETURN_IF_ERROR(check_past(call, p));
  CLVET_RETURN_IF_ERROR(check_mask(call, p));
  const int64_t stage = call.node.int_attr("qk_matmul_output_mode", 0);
  if (stage < kProducts || stage > kWeights)
    return bad_attribute(call, "qk_matmul_output_mode", stage);
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  const DType dtype = call.type(kQ).dtype;
  Types types{{dtype, p.y().shape()},
              {dtype, {p.k.batch, p.k.heads, p.total(), p.k.size}},
              {dtype, {p.v.batch, p.v.heads, p.total(), p.v.size}}};
  if (call.node.outputs.size() > 3)
    types.push_back({dtype, {p.q.batch, p.q.heads, p.q.length, p.total()}});
  return types;
}

// The past rows of each head, then the new ones.
void join(const OpCall& call, size_t past, size_t fresh, const Heads& heads, int64_t before,
          Tensor& out) {
  const float* x = call.tensor(fresh).data<float>();
  float* y = out.data<float>();
  for (int64_t b = 0; b < heads.batch; ++b) {
    for (int64_t h = 0; h < heads.heads; ++h) {
      const int64_t head = b * heads.heads + h;
      if (before > 0)
        y = std::copy_n(call.tensor(past).data<float>() + head * before * heads.size,
                        before * heads.size, y);
      for (int64_t row = 0; row < heads.length; ++row)
        y = std::copy_n(x + heads.at(b, h, row), heads.size, y);
    }
  }
}

// What is added to the scores of a row.
struct Bias {
  const Tensor* mask = nullptr;
  Shape shape;
  int64_t past = 0;
  bool causal = false;
  std::vector<int64_t> lengths;

  void add(int64_t b, int64_t h, int64_t row, int64_t total, float* scores) const {
    constexpr float kNever = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < total; ++i) {
      const bool late = (causal && i > past + row) ||
                        (!lengths.empty() && i >= lengths[static_cast<size_t>(b)]) ||
                        (mask && i >= shape[3]);
      if (late) {
        scores[i] = kNever;
      } else if (mask) {
        const int64_t at =
            (((shape[0] == 1 ? 0 : b) * shape[1] + (shape[1] == 1 ? 0 : h)) * shape[2] +
             (shape[2] == 1 ? 0 : row)) *
                shape[3] +
            i;
        if (mask->dtype() == DType::kF32)
          scores[i] += mask->data<float>()[at];
        else if (!mask->data<bool>()[at])
          scores[i] = kNever;
      }
    }
  }
};

void softmax(float* row, int64_t count) {
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t i = 0; i < count; ++i) most = std::max(most, row[i]);
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    row[i] = std::exp(row[i] - most);
    sum += static_cast<double>(row[i]);
  }
  for (int64_t i = 0; i < count; ++i)
    row[i] = static_cast<float>(static_cast<double>(row[i]) / sum);
}

// One head of one sample; scores are kept in `kept` as they are at its stage, where it is there.
struct Head {
  const OpCall& call;
  const Problem& p;
  const Bias& bias;
  int64_t stage;

  void run(int64_t b, int64_t h, std::vector<Tensor>& outputs) const {
    const int64_t total = p.total(), rows = p.q.length;
    const int64_t kv = b * p.k.heads + h / (p.q.heads / p.k.heads);
    std::vector<float> scores(static_cast<size_t>(rows * total));
    const float* q = call.tensor(kQ).data<float>() + p.q.at(b, h, 0);
    const float* k = outputs[1].data<float>() + kv * total * p.k.size;
    const float* v = outputs[2].data<float>() + kv * total * p.v.size;
    gemm({q, rows, p.q.size, p.q.stride()}, {k, p.k.size, total, p.k.size, true}, scores.data(),
         total, false);
    for (int64_t row = 0; row < rows; ++row) {
      float* kept = outputs.size() > 3
                        ? outputs[3].data<float>() + ((b * p.q.heads + h) * rows + row) * total
                        : nullptr;
      weigh(b, h, row, &scores[static_cast<size_t>(row * total)], kept);
    }
    const Heads y = p.y();
    gemm({scores.data(), rows, total, total}, {v, total, p.v.size, p.v.size, false},
         outputs[0].data<float>() + y.at(b, h, 0), y.stride(), false);
  }

  void weigh(int64_t b, int64_t h, int64_t row, float* scores, float* kept) const {
    const int64_t total = p.total();
    const auto scale = static_cast<float>(
        call.node.float_attr("scale", 1 / std::sqrt(static_cast<double>(p.q.size))));
    const auto cap = static_cast<float>(call.node.float_attr("softcap", 0));
    const auto keep = [&](int64_t at) {
      if (kept && stage == at) std::copy_n(scores, total, kept);
    };
    for (int64_t i = 0; i < total; ++i) scores[i] *= scale;
    keep(kProducts);
    bias.add(b, h, row, total, scores);
    keep(kMasked);
    for (int64_t i = 0; cap > 0 && i < total; ++i) scores[i] = cap * std::tanh(scores[i] / cap);
    keep(kCapped);
    softmax(scores, total);
    keep(kWeights);
  }
};

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  if (p.total() == 0 || p.q.size == 0) return bad_shape(call, kK);
  Bias bias;
  bias.past = p.past;
  bias.causal = call.node.int_attr("is_causal", 0) != 0;
  if (call.has(kMask)) {
    bias.mask = &call.tensor(kMask);
    bias.shape = mask_shape(call);
  }
  if (call.has(kLengths)) {
    CLVET_ASSIGN_OR_RETURN(bias.lengths, call.integers(kLengths));
  }
  join(call, kPastKey, kK, p.k, p.past, outputs[1]);
  join(call, kPastValue, kV, p.v, p.past, outputs[2]);
  const Head head{call, p, bias, call.node.int_attr("qk_matmul_output_mode", 0)};
  parallel_for(p.q.batch * p.q.heads, 1, [&](int64_t first, int64_t end) {
    for (int64_t i = first; i < end; ++i) head.run(i / p.q.heads, i % p.q.heads, outputs);
  });
  return {};
}

// [batch, heads, length, size], whatever the tensor's own order.
Term by_head(Steps& s, size_t input, const Heads& heads) {
  if (!heads.flat) return s.input(input);
  const Term x = s.reshaped(s.input(input), {heads.batch, heads.length, heads.heads, heads.size});
  return s.transposed(x, {0, 2, 1, 3});
}

Term with_past(Steps& s, size_t past, const Term& fresh) {
  if (!s.call().has(past)) return fresh;
  return s.one("Concat", {s.input(past), fresh}, {{"axis", int64_t{2}}});
}

// 0 where it holds, else minus infinity.
Term bias_of(Steps& s, const Term& allowed) {
  const Term one = s.one("Cast", {allowed}, {{"to", onnx_of_dtype(DType::kF32)}});
  return s.one("Sub", {number(1), s.one("Div", {number(1), one})});
}

Term causal_bias(const Problem& p) {
  std::vector<float> bias;
  for (int64_t row = 0; row < p.q.length; ++row) {
    for (int64_t i = 0; i < p.total(); ++i)
      bias.push_back(i > p.past + row ? -std::numeric_limits<float>::infinity() : 0.0F);
  }
  return constant_term(Tensor::from({1, 1, p.q.length, p.total()}, std::span<const float>(bias)));
}

// The mask with four axes, as long as the keys: what it lacks is not allowed.
Term whole_mask(Steps& s, const Problem& p) {
  Shape shape = mask_shape(s.call());
  const Term mask = s.reshaped(s.input(kMask), shape);
  shape[3] = p.total() - shape[3];
  if (shape[3] == 0) return mask;
  const auto count = static_cast<size_t>(elements_of(shape));
  const std::vector<float> never(count, -std::numeric_limits<float>::infinity());
  const bool truths = mask.type.dtype == DType::kBool;
  const Term rest = constant_term(truths ? Tensor::create(DType::kBool, shape).value()
                                         : Tensor::from(shape, std::span<const float>(never)));
  return s.one("Concat", {mask, rest}, {{"axis", int64_t{3}}});
}

Term with_biases(Steps& s, const Problem& p, Term scores) {
  const OpCall& call = s.call();
  if (call.has(kMask)) {
    const Term mask = whole_mask(s, p);
    const bool truths = mask.type.dtype == DType::kBool;
    scores = s.one("Add", {scores, truths ? bias_of(s, mask) : mask});
  }
  if (call.has(kLengths)) {
    const Term lengths = s.reshaped(s.input(kLengths), {p.q.batch, 1, 1, 1});
    const Term places = s.reshaped(counted(p.total()), {1, 1, 1, p.total()});
    scores = s.one("Add", {scores, bias_of(s, s.one("Less", {places, lengths}))});
  }
  if (call.node.int_attr("is_causal", 0) != 0) scores = s.one("Add", {scores, causal_bias(p)});
  return scores;
}

// Heads that share keys and values are rows of one product.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto problem = problem_of(call);
  if (!problem || problem->total() == 0 || elements_of(call.shape(kQ)) == 0 ||
      elements_of(call.shape(kV)) == 0 || problem->q.length * problem->total() > kMostPicked)
    return {};
  const Problem& p = *problem;
  const int64_t products = p.k.batch * p.k.heads, total = p.total();
  const int64_t rows = p.q.heads / p.k.heads * p.q.length;
  const Term k = with_past(s, kPastKey, by_head(s, kK, p.k)),
             v = with_past(s, kPastValue, by_head(s, kV, p.v));
  const Term q = s.reshaped(by_head(s, kQ, p.q), {products, rows, p.q.size});
  const Term keys = s.transposed(s.reshaped(k, {products, total, p.k.size}), {0, 2, 1});
  const double scale = call.node.float_attr("scale", 1 / std::sqrt(static_cast<double>(p.q.size)));
  const Shape by_row{p.q.batch, p.q.heads, p.q.length, total};
  std::vector<Term> stages{
      s.reshaped(s.one("Mul", {s.one("MatMul", {q, keys}), number(scale)}), by_row)};
  stages.push_back(with_biases(s, p, stages[kProducts]));
  const double cap = call.node.float_attr("softcap", 0);
  stages.push_back(stages[kMasked]);
  if (cap > 0) {
    const Term small = s.one("Tanh", {s.one("Div", {stages[kMasked], number(cap)})});
    stages[kCapped] = s.one("Mul", {small, number(cap)});
  }
  stages.push_back(s.one("Softmax", {stages[kCapped]}, {{"axis", int64_t{-1}}}));
  const Term weights = s.reshaped(stages[kWeights], {products, rows, total});
  const Term values = s.reshaped(v, {products, total, p.v.size});
  Term y =
      s.reshaped(s.one("MatMul", {weights, values}), {p.q.batch, p.q.heads, p.q.length, p.v.size});
  if (p.q.flat) y = s.reshaped(s.transposed(y, {0, 2, 1, 3}), p.y().shape());
  const int64_t stage = call.node.int_attr("qk_matmul_output_mode", 0);
  return {y, k, v, stages[static_cast<size_t>(stage)]};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Attention"},
    .since = 23,
    .inputs = "T T T *? T? T? *?",
    .types = "s",
    .attributes =
        "is_causal:i kv_num_heads:i q_num_heads:i qk_matmul_output_mode:i scale:f softcap:f "
        "softmax_precision:i",
    .max_outputs = 4,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_attention
