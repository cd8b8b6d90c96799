// Loops over broadcast operands.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/parallel.h"
#include "runtime/host/width.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/parts.h"

namespace clvet {

// Elements that are worth waking a thread, where each takes an instruction or two.
inline constexpr int64_t kElementGrain = 1 << 15;

// out[i] = fn(x[i], z[i]) for count elements, with steps of 0 (one value for all) or 1. Floats are
// computed in the widest vectors; what Fn calls must be small enough to be inlined for that.
template <class Fn, class A, class B, class Out>
struct MapRow {
  template <int kBytes>
  static CLVET_INLINE void run(const Fn* fn, const A* x, int64_t x_step, const B* z, int64_t z_step,
                               int64_t count, Out* y) {
    if (x_step == 1 && z_step == 1) {
      for (int64_t i = 0; i < count; ++i) y[i] = (*fn)(x[i], z[i]);
    } else if (x_step == 1 && z_step == 0) {
      const B right = *z;
      for (int64_t i = 0; i < count; ++i) y[i] = (*fn)(x[i], right);
    } else {
      for (int64_t i = 0; i < count; ++i) y[i] = (*fn)(x[i * x_step], z[i * z_step]);
    }
  }
};

template <class A, class B, class Out, class Fn>
void map_row(const Fn& fn, const A* x, int64_t x_step, const B* z, int64_t z_step, int64_t count,
             Out* y) {
  using Row = MapRow<Fn, A, B, Out>;
  if constexpr (std::is_same_v<Out, float>)
    at_width<Row>(&fn, x, x_step, z, z_step, count, y);
  else
    Row::template run<16>(&fn, x, x_step, z, z_step, count, y);
}

// out[i] = fn(a[i]) over equal shapes; out may be a.
template <class In, class Out, class Fn>
void map_unary(const Tensor& a, Tensor& out, Fn fn) {
  const In* x = a.data<In>();
  Out* y = out.data<Out>();
  const auto both = [&fn](In value, In) { return fn(value); };
  parallel_for(out.elements(), kElementGrain, [&](int64_t first, int64_t end) {
    map_row(both, x + first, 1, x + first, 1, end - first, y + first);
  });
}

// out[i] = fn(a[i], b[i]), both broadcast to out's shape; out may be a.
template <class A, class B, class Out, class Fn>
void map_binary(const Tensor& a, const Tensor& b, Tensor& out, Fn fn) {
  std::vector<int64_t> strides[2] = {broadcast_strides(a.shape(), out.shape()),
                                     broadcast_strides(b.shape(), out.shape())};
  const Shape shape = joined_axes(out.shape(), strides);
  for_each_part(shape, strides, kElementGrain,
                [&](const int64_t(&at)[2], int64_t first, int64_t count) {
                  map_row(fn, a.data<A>() + at[0], strides[0].back(), b.data<B>() + at[1],
                          strides[1].back(), count, out.data<Out>() + first);
                });
}

// Calls fn.template operator()<T>() where `dtype` is a number type with arithmetic of its own (f16
// and bf16 have been widened before); kUnsupported otherwise.
template <class Fn>
Status visit_numbers(DType dtype, Fn&& fn) {
  if (is_short_float(dtype) || dtype == DType::kBool) {
    return fail(ErrorCode::kUnsupported, "arithmetic on the type {} is not supported",
                to_string(dtype));
  }
  visit(dtype, [&]<class T>() {
    if constexpr (!kIsShortFloat<T> && !std::is_same_v<T, bool>) {
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
