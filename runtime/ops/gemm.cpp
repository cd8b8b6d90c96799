// Gemm: alpha * A' * B' + beta * C.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/gemm.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_gemm {
namespace {

struct Problem {
  int64_t m, n, k;
  bool trans_a, trans_b;
  double alpha, beta;
};

Status check_scales(const Problem& p, DType dtype) {
  if (on_device(dtype) || dtype == DType::kF64) return {};
  for (const double scale : {p.alpha, p.beta}) {
    if (std::trunc(scale) == scale) continue;
    return fail(ErrorCode::kUnsupported, "Gemm of integers cannot be scaled by {}", scale);
  }
  return {};
}

Status check_addend(const Problem& p, const Shape& c) {
  const auto shape = broadcast(c, {p.m, p.n});
  if (shape && *shape == Shape{p.m, p.n}) return {};
  return fail(ErrorCode::kInvalidArgument, "Gemm's C {} does not fit [{},{}]", to_string(c), p.m,
              p.n);
}

Result<Problem> problem_of(const OpCall& call) {
  const Shape &a = call.shape(0), &b = call.shape(1);
  if (a.size() != 2 || b.size() != 2) {
    return fail(ErrorCode::kInvalidArgument, "Gemm cannot multiply {} by {}", to_string(a),
                to_string(b));
  }
  Problem p{};
  p.trans_a = call.node.int_attr("transA", 0) != 0;
  p.trans_b = call.node.int_attr("transB", 0) != 0;
  p.alpha = call.node.float_attr("alpha", 1);
  p.beta = call.node.float_attr("beta", 1);
  p.m = a[p.trans_a ? 1 : 0];
  p.k = a[p.trans_a ? 0 : 1];
  p.n = b[p.trans_b ? 0 : 1];
  if (b[p.trans_b ? 1 : 0] != p.k) {
    return fail(ErrorCode::kInvalidArgument, "Gemm cannot multiply {} by {}", to_string(a),
                to_string(b));
  }
  CLVET_RETURN_IF_ERROR(check_scales(p, call.type(0).dtype));
  if (call.has(2)) CLVET_RETURN_IF_ERROR(check_addend(p, call.shape(2)));
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  return Types{{call.type(0).dtype, {p.m, p.n}}};
}

template <class T>
void product(const Problem& p, const Tensor& a, const Tensor& b, Tensor& out) {
  if constexpr (std::is_same_v<T, float>) {
    gemm({a.data<T>(), p.m, p.k, a.dim(1), p.trans_a}, {b.data<T>(), p.k, p.n, b.dim(1), p.trans_b},
         out.data<T>(), p.n, false);
  } else {
    T* y = out.data<T>();
    for (int64_t i = 0; i < p.m; ++i) {
      for (int64_t j = 0; j < p.n; ++j, ++y) {
        for (int64_t k = 0; k < p.k; ++k) {
          const T left = a.data<T>()[p.trans_a ? k * p.m + i : i * p.k + k];
          const T right = b.data<T>()[p.trans_b ? j * p.k + k : k * p.n + j];
          *y = wrap_add(*y, wrap_mul(left, right));
        }
      }
    }
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  Tensor& y = outputs[0];
  return visit_numbers(y.dtype(), [&]<class T>() {
    product<T>(p, call.tensor(0), call.tensor(1), y);
    const T alpha = static_cast<T>(p.alpha), beta = static_cast<T>(p.beta);
    if (p.alpha != 1) map_unary<T, T>(y, y, [&](T v) { return wrap_mul(alpha, v); });
    if (!call.has(2) || p.beta == 0) return;
    map_binary<T, T, T>(y, call.tensor(2), y,
                        [&](T v, T c) { return wrap_add(v, wrap_mul(beta, c)); });
  });
}

Values weight_values(const OpCall& call) {
  const Problem p = *problem_of(call);
  const Values b = call.inputs[1].value->to_f64();
  Values out(b.size());
  for (int64_t k = 0; k < p.k; ++k) {
    for (int64_t n = 0; n < p.n; ++n) {
      out[k * p.n + n] = p.alpha * b[p.trans_b ? n * p.k + k : k * p.n + n];
    }
  }
  return out;
}

Values bias_values(const OpCall& call) {
  const Problem p = *problem_of(call);
  Values out(static_cast<size_t>(p.n), 0.0);
  if (!call.has(2) || p.beta == 0) return out;
  const Values c = call.inputs[2].value->to_f64();
  for (size_t i = 0; i < out.size(); ++i) out[i] = p.beta * c[c.size() == 1 ? 0 : i];
  return out;
}

// With constant weights, A as it is and C a row: one product with a bias.
bool has_weights(const OpCall& call, const Problem& p) {
  if (p.trans_a || !call.inputs[1].value) return false;
  if (!call.has(2)) return true;
  const int64_t count = elements_of(call.shape(2));
  const bool row = count == 1 || (count == p.n && call.shape(2).back() == p.n);
  return call.inputs[2].value && row;
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto p = problem_of(call);
  if (!p) return host_only(p.error().message);
  if (has_weights(call, *p)) {
    return lower_gemm(call, p->m, p->n, p->k, {{"w"}, {"bias"}});
  }
  Lowering product = lower_bmm(call, {0, call.shape(0), p->m, p->k, p->trans_a},
                               {1, call.shape(1), p->k, p->n, p->trans_b}, p->alpha);
  if (product.kind != LoweringKind::kKernel) return product;
  if (call.has(2) && p->beta != 0) return then_add(call, std::move(product), 2, p->beta);
  if (call.node.activation.act != Act::kNone) {
    if (p->alpha != 1) return host_only("kernels apply only one activation");
    put_activation(call.node.activation, product.calls.back());
  }
  return product;
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  return which.role == "w" ? weight_values(call) : bias_values(call);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Gemm"},
    .since = 7,
    .inputs = "T T T?",
    .types = "fiu",
    .attributes = "alpha:f beta:f transA:i transB:i",
    .fills_floats = true,
    .infer = infer,
    .host = host,
    .lower = lower,
    .constant = constant,
};

}  // namespace clvet::op_gemm
