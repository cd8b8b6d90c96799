// MatMul with NumPy's batch rules. Passes may add a third input, a bias over the last axis.
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/matrix.h"
#include "runtime/host/product.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_matmul {
namespace {

struct Problem {
  int64_t m, k, n;
  Shape batch;  // broadcast
  Shape a_batch, b_batch;
  bool drop_m, drop_n;  // vector operands
};

Result<Problem> problem_of(const OpCall& call) {
  Shape a = call.shape(0), b = call.shape(1);
  if (a.empty() || b.empty())
    return fail(ErrorCode::kInvalidArgument, "MatMul does not take a scalar");
  Problem p{};
  p.drop_m = a.size() == 1;
  p.drop_n = b.size() == 1;
  if (p.drop_m) a.insert(a.begin(), 1);
  if (p.drop_n) b.push_back(1);
  p.m = a[a.size() - 2];
  p.k = a.back();
  p.n = b.back();
  if (b[b.size() - 2] != p.k) {
    return fail(ErrorCode::kInvalidArgument, "MatMul cannot multiply {} by {}",
                to_string(call.shape(0)), to_string(call.shape(1)));
  }
  p.a_batch = Shape(a.begin(), a.end() - 2);
  p.b_batch = Shape(b.begin(), b.end() - 2);
  CLVET_ASSIGN_OR_RETURN(p.batch, broadcast(p.a_batch, p.b_batch));
  if (call.has(2) && call.shape(2) != Shape{p.n}) {
    return fail(ErrorCode::kInvalidArgument, "MatMul's bias {} does not fit {} columns",
                to_string(call.shape(2)), p.n);
  }
  return p;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Problem p, problem_of(call));
  Shape shape = p.batch;
  if (!p.drop_m) shape.push_back(p.m);
  if (!p.drop_n) shape.push_back(p.n);
  return Types{{call.type(0).dtype, shape}};
}

template <class T>
void multiply_each(const Problem& p, const T* a, const T* b, T* c) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t k = 0; k < p.k; ++k) {
      const T left = a[i * p.k + k];
      for (int64_t j = 0; j < p.n; ++j) {
        c[i * p.n + j] = wrap_add(c[i * p.n + j], wrap_mul(left, b[k * p.n + j]));
      }
    }
  }
}

// The products of all batches side by side, the bias among them.
void multiply_floats(const OpCall& call, const Problem& p, const Shape& walk,
                     const std::vector<int64_t> (&strides)[3], float* y) {
  std::vector<StoredMatrix> rights;
  std::vector<Product> products;
  for_each_row(walk, strides, [&](const int64_t(&at)[3]) {
    rights.emplace_back(MatrixView{call.tensor(1).data<float>() + at[1], p.k, p.n, p.n});
    Product product{.a = {call.tensor(0).data<float>() + at[0], p.m, p.k, p.k}, .columns = p.n};
    product.c = y + at[2];
    product.stride = p.n;
    product.column_bias = call.has(2) ? call.tensor(2).data<float>() : nullptr;
    products.push_back(product);
  });
  for (size_t i = 0; i < products.size(); ++i) products[i].b = &rights[i];
  multiply(products);
}

// A shared right matrix makes one product of all rows.
void join_rows(Problem& p) {
  if (elements_of(p.b_batch) != 1) return;
  p.m *= elements_of(p.a_batch);
  p.batch = p.a_batch = p.b_batch = {};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(Problem p, problem_of(call));
  if (outputs[0].elements() == 0) return {};
  Tensor& y = outputs[0];
  join_rows(p);
  Shape walk = p.batch;
  walk.push_back(1);
  std::vector<int64_t> strides[3] = {broadcast_strides(p.a_batch, p.batch),
                                     broadcast_strides(p.b_batch, p.batch), strides_of(p.batch)};
  const int64_t sizes[3] = {p.m * p.k, p.k * p.n, p.m * p.n};
  for (int i = 0; i < 3; ++i) {
    for (int64_t& stride : strides[i]) stride *= sizes[i];
    strides[i].push_back(0);
  }
  if (y.dtype() == DType::kF32) {
    multiply_floats(call, p, walk, strides, y.data<float>());
    return {};
  }
  return visit_numbers(y.dtype(), [&]<class T>() {
    if (call.has(2)) {
      map_binary<T, T, T>(call.tensor(2), Tensor::scalar<T>(0), y, [](T v, T) { return v; });
    }
    for_each_row(walk, strides, [&](const int64_t(&at)[3]) {
      multiply_each(p, call.tensor(0).data<T>() + at[0], call.tensor(1).data<T>() + at[1],
                    y.data<T>() + at[2]);
    });
  });
}

Values weight_values(const OpCall& call) { return call.inputs[1].value->to_f64(); }
Values bias_values(const OpCall& call) {
  if (call.has(2)) return call.inputs[2].value->to_f64();
  return Values(static_cast<size_t>(call.shape(1).back()), 0.0);
}

// Both matrices as they are at run time.
Lowering lower_product(const OpCall& call, const Problem& p) {
  if (p.drop_n || (p.drop_m && call.shape(1).size() < 2))
    return host_only("an operand is a vector");
  const Shape left = padded_shape(call.shape(0), 2);
  Lowering product = lower_bmm(call, {0, left, p.m, p.k}, {1, call.shape(1), p.k, p.n}, 1);
  if (product.kind != LoweringKind::kKernel) return product;
  if (call.has(2)) return then_add(call, std::move(product), 2, 1);
  put_activation(call.node.activation, product.calls.back());
  return product;
}

Lowering lower(const OpCall& call, View) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto p = problem_of(call);
  if (!p) return host_only(p.error().message);
  const bool weights =
      call.inputs[1].value && (!call.has(2) || call.inputs[2].value) && call.shape(1).size() == 2;
  if (!weights) return lower_product(call, *p);
  return lower_gemm(call, p->m * elements_of(p->a_batch), p->n, p->k, {{"w"}, {"bias"}});
}

Values constant(const OpCall& call, const LoweredConstant& which) {
  return which.role == "w" ? weight_values(call) : bias_values(call);
}

// A vector as a matrix.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto p = problem_of(call);
  if (!p || !(p->drop_m || p->drop_n) || call.has(2)) return {};
  const Term a = p->drop_m ? s.reshaped(s.input(0), {1, p->k}) : s.input(0),
             b = p->drop_n ? s.reshaped(s.input(1), {p->k, 1}) : s.input(1);
  return {s.reshaped(s.one("MatMul", {a, b}), (*infer(call))[0].shape)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"MatMul"},
    .inputs = "T T T?",
    .types = "fiu",
    .fills_floats = true,
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
    .constant = constant,
};

}  // namespace clvet::op_matmul
