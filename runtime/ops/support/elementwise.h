// Loops over broadcast operands.
#pragma once

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/shapes.h"

namespace clvet {

// out[i] = fn(a[i]) over equal shapes.
template <class In, class Out, class Fn>
void map_unary(const Tensor& a, Tensor& out, Fn fn) {
  const In* x = a.data<In>();
  Out* y = out.data<Out>();
  const int64_t count = out.elements();
  for (int64_t i = 0; i < count; ++i) y[i] = fn(x[i]);
}

// out[i] = fn(a[i], b[i]), both broadcast to out's shape.
template <class A, class B, class Out, class Fn>
void map_binary(const Tensor& a, const Tensor& b, Tensor& out, Fn fn) {
  Out* y = out.data<Out>();
  if (a.shape() == out.shape() && b.shape() == out.shape()) {
    const A* x = a.data<A>();
    const B* z = b.data<B>();
    for (int64_t i = 0; i < out.elements(); ++i) y[i] = fn(x[i], z[i]);
    return;
  }
  const Shape& shape = out.shape();
  const int64_t n = shape.empty() ? 1 : shape.back();
  const std::vector<int64_t> strides[2] = {broadcast_strides(a.shape(), shape),
                                           broadcast_strides(b.shape(), shape)};
  const int64_t sa = shape.empty() ? 0 : strides[0].back();
  const int64_t sb = shape.empty() ? 0 : strides[1].back();
  for_each_row(shape, strides, [&](const int64_t(&offsets)[2]) {
    const A* x = a.data<A>() + offsets[0];
    const B* z = b.data<B>() + offsets[1];
    if (sb == 0) {
      const B right = *z;
      for (int64_t i = 0; i < n; ++i) y[i] = fn(x[i * sa], right);
    } else {
      for (int64_t i = 0; i < n; ++i) y[i] = fn(x[i * sa], z[i * sb]);
    }
    y += n;
  });
}

// Calls fn.template operator()<T>() where `dtype` is a number type with arithmetic of its own (f16
// has been widened before); kUnsupported otherwise.
template <class Fn>
Status visit_numbers(DType dtype, Fn&& fn) {
  if (dtype == DType::kF16 || dtype == DType::kBool) {
    return fail(ErrorCode::kUnsupported, "arithmetic on the type {} is not supported",
                to_string(dtype));
  }
  visit(dtype, [&]<class T>() {
    if constexpr (!std::is_same_v<T, Half> && !std::is_same_v<T, bool>) {
      fn.template operator()<T>();
    }
  });
  return {};
}

// f32 and f64 alone.
template <class Fn>
Status visit_floats(DType dtype, Fn&& fn) {
  if (dtype == DType::kF32)
    fn.template operator()<float>();
  else if (dtype == DType::kF64)
    fn.template operator()<double>();
  else
    return fail(ErrorCode::kUnsupported, "float arithmetic on the type {} is not supported",
                to_string(dtype));
  return {};
}

// Integer arithmetic that wraps in place of undefined behaviour; plain arithmetic for floats.
template <class T>
T wrap_add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
template <class T>
T wrap_sub(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  } else {
    return a - b;
  }
}
template <class T>
T wrap_mul(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
// 0 for a division by zero.
template <class T>
T wrap_div(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    if (b == 0) return 0;
    if (b == static_cast<T>(-1)) return wrap_sub(T{0}, a);
  }
  return static_cast<T>(a / b);
}

}  // namespace clvet
