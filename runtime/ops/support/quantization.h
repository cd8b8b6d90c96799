// Scales and zero points of quantised tensors: one for all, one for each index of an axis, or one
// for each block along it.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "base/numbers.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"

namespace clvet {

// i8, u8, i16 and u16.
bool is_quantized(DType dtype);

// visit() for those types.
template <class Fn>
void visit_quantized(DType dtype, Fn&& fn) {
  visit(dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && sizeof(T) <= 2 && !std::is_same_v<T, bool>)
      fn.template operator()<T>();
  });
}

// Which scale belongs to which element.
struct Granularity {
  AxisSpan span{{1}, 0};
  int64_t block = 1;                                 // indices of the axis that share a scale
  int64_t outer_step = 0, step = 0, inner_step = 0;  // in the scales
  int64_t at(int64_t o, int64_t a, int64_t i) const {
    return o * outer_step + a / block * step + i * inner_step;
  }
};

// From input 1 and the attributes axis and block_size; kInvalidArgument where input 1 or 2 does not
// suit input 0.
Result<Granularity> granularity_of(const OpCall& call);

// Calls fn(element, scale) for each element and the place of its scale.
template <class Fn>
void for_each_scaled(const Granularity& g, Fn&& fn) {
  int64_t at = 0;
  for (int64_t o = 0; o < g.span.outer; ++o) {
    for (int64_t a = 0; a < g.span.extent; ++a) {
      for (int64_t i = 0; i < g.span.inner; ++i, ++at) fn(at, g.at(o, a, i));
    }
  }
}

// The 256 levels of DynamicQuantizeLinear from min(low, 0) to max(high, 0). Of an empty range the
// scale is 1, as onnxruntime has it.
struct ByteLevels {
  float scale = 1, zero = 0;
};
ByteLevels byte_levels(float low, float high);

// x, counted in steps of the quantised type, to the nearest of its numbers, ties to even.
template <class T>
T quantized(float steps, int64_t zero) {
  return saturated<T>(static_cast<double>(std::nearbyint(steps)) + static_cast<double>(zero));
}

}  // namespace clvet
