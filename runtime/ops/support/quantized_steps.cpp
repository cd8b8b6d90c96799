#include "runtime/ops/support/quantized_steps.h"

#include <cstdint>

#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/support/steps.h"

namespace clvet {
namespace {

// [] in place of [1]; anything else stays.
Term as_scalar(Steps& s, const Term& x) {
  return x.present && elements_of(x.shape()) == 1 ? s.reshaped(x, {}) : x;
}

}  // namespace

Term dequantized(Steps& s, const Term& x, const Term& scale, const Term& zero) {
  return s.one("DequantizeLinear", {x, as_scalar(s, scale), as_scalar(s, zero)});
}

Term quantized(Steps& s, const Term& x, const Term& scale, const Term& zero) {
  return s.one("QuantizeLinear", {x, as_scalar(s, scale), as_scalar(s, zero)});
}

Term integer_sums(Steps& s, const IntegerProduct& p) {
  return s.one("MatMulInteger", {p.left, p.right, p.left_zero, p.right_zero});
}

Term scaled_sums(Steps& s, const Term& sums, const IntegerProduct& p, double factor) {
  Term scale = s.one("Mul", {as_scalar(s, p.left_scale), as_scalar(s, p.right_scale)});
  if (factor != 1) {
    const Term by = constant_term(Tensor::scalar(static_cast<float>(factor)));
    scale = s.one("Mul", {scale, by});
  }
  const Term wide = s.one("Cast", {sums}, {{"to", onnx_of_dtype(DType::kF32)}});
  return s.one("Mul", {wide, scale});
}

bool fits_columns(const Term& parameter, int64_t columns) {
  if (!parameter.present) return true;
  const int64_t count = elements_of(parameter.shape());
  return parameter.shape().size() < 2 && (count == 1 || count == columns);
}

}  // namespace clvet
