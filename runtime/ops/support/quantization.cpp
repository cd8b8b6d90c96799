#include "runtime/ops/support/quantization.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/refusals.h"

namespace clvet {
namespace {

// Below it the levels of so small a range are not worth a scale whose reciprocal may overflow.
constexpr float kLeastSpan = 0x1p-100f;

Result<Granularity> by_block(const OpCall& call, int64_t axis, int64_t block) {
  const Shape &x = call.shape(0), &scale = call.shape(1);
  const auto at = static_cast<size_t>(axis);
  Shape want = x;
  want[at] = x[at] / block + (x[at] % block != 0);
  if (scale != want) return misfit(call, 0, 1);
  Granularity g{AxisSpan(x, axis), block};
  g.inner_step = 1;
  g.step = g.span.inner;
  g.outer_step = g.step * want[at];
  return g;
}

}  // namespace

ByteLevels byte_levels(float low, float high) {
  const float least = std::min(low, 0.f), span = std::max(high, 0.f) - least;
  ByteLevels levels;
  if (!(span < kLeastSpan)) levels.scale = span / 255.f;
  levels.zero = std::nearbyint(std::clamp(-least / levels.scale, 0.f, 255.f));
  return levels;
}

bool is_quantized(DType dtype) {
  return dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16 || dtype == DType::kU16;
}

Result<Granularity> granularity_of(const OpCall& call) {
  const Shape &x = call.shape(0), &scale = call.shape(1);
  // onnxruntime writes a scale of [1] beside a zero point of [].
  const auto is_one = [](const Shape& shape) {
    return shape.size() <= 1 && elements_of(shape) == 1;
  };
  if (call.has(2) && call.shape(2) != scale && !(is_one(scale) && is_one(call.shape(2))))
    return misfit(call, 1, 2);
  const int64_t block = call.node.int_attr("block_size", 0);
  if (block < 0) return bad_attribute(call, "block_size", block);
  if (block == 0 && is_one(scale)) return Granularity{AxisSpan({elements_of(x)}, 0)};
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 1));
  if (block > 0) return by_block(call, axis, block);
  if (scale != Shape{x[static_cast<size_t>(axis)]}) return misfit(call, 0, 1);
  Granularity g{AxisSpan(x, axis)};
  g.step = 1;
  return g;
}

}  // namespace clvet
