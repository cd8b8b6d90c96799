#include "runtime/ops/support/picking.h"

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/steps.h"

namespace clvet {

Term counted(int64_t count, int64_t step) {
  std::vector<int64_t> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(i * step);
  return integers(std::move(values));
}

Term as_i64(Steps& s, const Term& given) {
  if (given.type.dtype == DType::kI64) return given;
  return s.one("Cast", {given}, {{"to", onnx_of_dtype(DType::kI64)}});
}

Term numbers_inside(Steps& s, const Term& given, int64_t extent, bool from_end) {
  Term numbers = as_i64(s, given);
  if (!from_end) {
    const Term below = s.one("Less", {numbers, integers({0})});
    numbers = s.one("Where", {below, integers({extent}), numbers});
  }
  return s.one("Gather", {counted(extent), numbers}, {{"axis", int64_t{0}}});
}

Term picked(Steps& s, const Term& table, const Term& at, const Shape& shape) {
  const Term rows = s.reshaped(at, {elements_of(at.shape())});
  return s.reshaped(s.one("Gather", {table, rows}, {{"axis", int64_t{0}}}), shape);
}

Tensor places_in(const Shape& shape, const Shape& out) {
  const std::vector<int64_t> strides[1] = {broadcast_strides(shape, out)};
  const int64_t length = out.empty() ? 1 : out.back();
  const int64_t step = out.empty() ? 0 : strides[0].back();
  std::vector<int64_t> places;
  for_each_row(out, strides, [&](const int64_t(&at)[1]) {
    for (int64_t i = 0; i < length; ++i) places.push_back(at[0] + i * step);
  });
  return Tensor::from(out, std::span<const int64_t>(places));
}

}  // namespace clvet
