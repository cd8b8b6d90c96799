#include "runtime/ops/support/quantized_steps.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/support/quantization.h"
#include "runtime/ops/support/steps.h"

namespace clvet {
namespace {

// [] in place of [1]; anything else stays.
Term as_scalar(Steps& s, const Term& x) {
  return x.present && elements_of(x.shape()) == 1 ? s.reshaped(x, {}) : x;
}

struct LevelBounds {
  double lo = 0, hi = 0;
};

LevelBounds bounds_of(DType dtype) {
  LevelBounds bounds;
  visit_quantized(dtype, [&]<class T>() {
    bounds = {static_cast<double>(std::numeric_limits<T>::min()),
              static_cast<double>(std::numeric_limits<T>::max())};
  });
  return bounds;
}

// What a parameter of the call broadcasts as: [] for all, or along the axis; nullopt: by blocks.
std::optional<Shape> parameter_shape(const Steps& s, const Term& x, const Term& scale) {
  const Node& node = s.call().node;
  if (node.int_attr("block_size", 0) != 0) return std::nullopt;
  if (elements_of(scale.shape()) == 1) return Shape{};
  const auto rank = static_cast<int64_t>(x.shape().size());
  const auto axis = normal_axis(node.int_attr("axis", 1), rank);
  if (!axis) return std::nullopt;
  Shape shape(x.shape().size(), 1);
  shape[static_cast<size_t>(*axis)] = elements_of(scale.shape());
  return shape;
}

// The one value of all elements.
std::optional<double> value_of_all(const Term& x) {
  if (!x.present) return 0;
  if (!x.known || x.value.elements() == 0) return std::nullopt;
  const std::vector<double> values = x.value.to_f64();
  const bool alike = std::ranges::all_of(values, [&](double v) { return v == values[0]; });
  return alike ? std::optional(values[0]) : std::nullopt;
}

}  // namespace

Term as_levels(Steps& s, Term x, const Term& scale, const Term& zero, DType dtype) {
  const auto shape = parameter_shape(s, x, scale);
  const auto same = value_of_all(zero);
  if (!shape || (!same && !shape->empty())) return no_term();
  Term by = s.reshaped(scale, *shape);
  if (!shape->empty()) {
    x = s.one("Div", {x, by});
    by = number(1);
  }
  const Term from = same ? number(*same) : s.reshaped(s.one(kAsFloats.data(), {zero}), {});
  const LevelBounds bounds = bounds_of(dtype);
  const Term levels = s.one(kLevels.data(), {x, by, from}, {{"lo", bounds.lo}, {"hi", bounds.hi}});
  return s.one(kAsIntegers.data(), {levels}, {{"to", onnx_of_dtype(dtype)}});
}

Term from_levels(Steps& s, const Term& x, const Term& scale, const Term& zero) {
  const auto shape = parameter_shape(s, x, scale);
  if (!shape) return no_term();
  Term level = s.one(kAsFloats.data(), {x});
  if (value_of_all(zero) != 0)
    level = s.one("Sub", {level, s.reshaped(s.one(kAsFloats.data(), {zero}), *shape)});
  return s.one("Mul", {level, s.reshaped(scale, *shape)});
}

Term dequantized(Steps& s, const Term& x, const Term& scale, const Term& zero) {
  return s.one("DequantizeLinear", {x, as_scalar(s, scale), as_scalar(s, zero)});
}

Term quantized(Steps& s, const Term& x, const Term& scale, const Term& zero) {
  return s.one("QuantizeLinear", {x, as_scalar(s, scale), as_scalar(s, zero)});
}

Term integer_sums(Steps& s, const IntegerProduct& p, const Term& added) {
  return s.one(kMatMulSums.data(), {p.left, p.right, p.left_zero, p.right_zero, added});
}

Term scaled_sums(Steps& s, const Term& sums, const IntegerProduct& p, double factor) {
  Term scale = s.one("Mul", {as_scalar(s, p.left_scale), as_scalar(s, p.right_scale)});
  if (factor != 1) {
    const Term by = constant_term(Tensor::scalar(static_cast<float>(factor)));
    scale = s.one("Mul", {scale, by});
  }
  return s.one("Mul", {sums, scale});
}

bool fits_columns(const Term& parameter, int64_t columns) {
  if (!parameter.present) return true;
  const int64_t count = elements_of(parameter.shape());
  return parameter.shape().size() < 2 && (count == 1 || count == columns);
}

}  // namespace clvet
