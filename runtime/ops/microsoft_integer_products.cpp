// QGemm, MatMulIntegerToFloat and DynamicQuantizeMatMul of com.microsoft: exact sums of integers,
// then scaled.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/quantized_steps.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_microsoft_integer_products {
namespace {

// Where each input of an operator is; kNone: it has none.
constexpr size_t kNone = 99;
struct Layout {
  size_t a, a_scale, a_zero, b, b_scale, b_zero, bias;
};
constexpr Layout kGemm{0, 1, 2, 3, 4, 5, 6};
constexpr Layout kToFloat{0, 2, 4, 1, 3, 5, 6};
constexpr Layout kDynamic{0, kNone, kNone, 1, 2, 3, 4};
constexpr size_t kYScale = 7, kYZero = 8;

const Layout& layout_of(const OpCall& call) {
  return call.node.op == "QGemm"                  ? kGemm
         : call.node.op == "MatMulIntegerToFloat" ? kToFloat
                                                  : kDynamic;
}

// One for the whole left operand; for the right one, or one a column.
bool check_parameters(Steps& s, const Layout& at, int64_t columns) {
  const OpCall& call = s.call();
  for (const size_t i : {at.a_scale, at.a_zero}) {
    if (call.has(i) && !fits_columns(s.input(i), 1)) s.refuse(bad_shape(call, i));
  }
  for (const size_t i : {at.b_scale, at.b_zero}) {
    if (call.has(i) && !fits_columns(s.input(i), columns)) s.refuse(misfit(call, at.b, i));
  }
  for (const size_t i : {at.b_zero, at.a_zero}) {
    const size_t of = i == at.b_zero ? at.b : at.a;
    if (call.has(i) && call.type(i).dtype != call.type(of).dtype) s.refuse(bad_type(call, i));
  }
  return s.ok();
}

std::vector<Term> gemm(Steps& s, const IntegerProduct& p) {
  const OpCall& call = s.call();
  const double alpha = call.node.float_attr("alpha", 1);
  if (call.has(kGemm.bias) && call.type(kGemm.bias).dtype != DType::kI32)
    return s.refuse(bad_type(call, kGemm.bias));
  const Term sums = integer_sums(s, p, s.input(kGemm.bias));
  const Term y = scaled_sums(s, sums, p, alpha);
  if (!call.has(kYScale)) return {y};
  if (!fits_columns(s.input(kYScale), 1)) return s.refuse(bad_shape(call, kYScale));
  if (!call.has(kYZero)) return s.refuse(missing_input(call, kYZero));
  if (call.type(kYZero).dtype != call.type(kGemm.a).dtype) return s.refuse(bad_type(call, kYZero));
  return {quantized(s, y, s.input(kYScale), s.input(kYZero))};
}

std::vector<Term> product(Steps& s, const IntegerProduct& p, size_t bias) {
  const Term y = scaled_sums(s, integer_sums(s, p, no_term()), p, 1);
  if (!s.call().has(bias) || !s.ok()) return {y};
  if (y.shape().empty() || s.call().shape(bias) != Shape{y.shape().back()})
    return s.refuse(misfit(s.call(), layout_of(s.call()).b, bias));
  return {s.one("Add", {y, s.input(bias)})};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const Layout& at = layout_of(call);
  for (const size_t i : {at.a, at.b, at.a_scale, at.b_scale}) {
    if (i != kNone && !call.has(i)) return s.refuse(missing_input(call, i));
  }
  IntegerProduct p{s.input(at.a),       s.input(at.b),      s.input(at.a_scale),
                   s.input(at.b_scale), s.input(at.a_zero), s.input(at.b_zero)};
  for (const size_t i : {at.b_scale, at.a_scale}) {
    if (call.has(i) && call.type(i).dtype != DType::kF32) return s.refuse(bad_type(call, i));
  }
  const bool qgemm = call.node.op == "QGemm";
  if (qgemm && (p.left.shape().size() != 2 || p.right.shape().size() != 2))
    return s.refuse(misfit(call, at.a, at.b));
  const std::vector<int64_t> turned{1, 0};
  if (qgemm && call.node.int_attr("transA", 0) != 0)
    p.left = s.one("Transpose", {p.left}, {{"perm", turned}});
  if (qgemm && call.node.int_attr("transB", 0) != 0)
    p.right = s.one("Transpose", {p.right}, {{"perm", turned}});
  const Shape& b = p.right.shape();
  if (!check_parameters(s, at, b.size() < 2 ? 1 : b.back())) return {};
  if (call.node.op == "DynamicQuantizeMatMul") {
    if (p.left.type.dtype != DType::kF32) return s.refuse(bad_type(call, at.a));
    const std::vector<Term> left = s.all("DynamicQuantizeLinear", {p.left}, {}, 3);
    p.left = left[0];
    p.left_scale = left[1];
    p.left_zero = left[2];
  }
  return qgemm ? gemm(s, p) : product(s, p, at.bias);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"QGemm", "MatMulIntegerToFloat", "DynamicQuantizeMatMul"},
    .domain = kMicrosoft,
    .inputs = "* *? *? *? *? *? *? *? *?",
    .attributes = "alpha:f transA:i transB:i",
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
    .expand = steps,
};

}  // namespace clvet::op_microsoft_integer_products
