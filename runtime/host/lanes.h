// Vectors of floats for the bodies of runtime/host/width.h. They are handed on by reference: by
// value a vector wider than the compiler's target would have no place to be passed in.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>

#include "runtime/host/width.h"

// For loops over small arrays of vectors, which stay in registers only if the loop is unrolled.
// Clang unrolls them by itself, GCC where this stands before them.
#if defined(__clang__)
#define CLVET_UNROLL
#else
#define CLVET_UNROLL _Pragma("GCC unroll 16")
#endif

namespace clvet {

template <int kBytes>
struct Lanes {
  static constexpr int64_t kCount = kBytes / sizeof(float);
  typedef float Float __attribute__((vector_size(kBytes)));
  typedef int32_t Int __attribute__((vector_size(kBytes)));

  static CLVET_INLINE void load(const float* from, Float& into) {
    std::memcpy(&into, from, sizeof into);
  }
  static CLVET_INLINE void store(const Float& from, float* to) {
    std::memcpy(to, &from, sizeof from);
  }
  static CLVET_INLINE void fill(float value, Float& into) {
    const Float zeros = {};
    into = value - zeros;  // the value's sign stays, also that of 0
  }
  // The first `count` lanes of memory, zeros behind them.
  static CLVET_INLINE void load_part(const float* from, int64_t count, Float& into) {
    float edge[kCount] = {};
    for (int64_t i = 0; i < count; ++i) edge[i] = from[i];
    load(edge, into);
  }
  static CLVET_INLINE void store_part(const Float& from, int64_t count, float* to) {
    float edge[kCount];
    store(from, edge);
    for (int64_t i = 0; i < count; ++i) to[i] = edge[i];
  }
  // Every second of 2 * kCount floats, from the first on.
  static CLVET_INLINE void load_even(const float* from, Float& into) {
    Float low, high;
    load(from, low);
    load(from + kCount, high);
    even(low, high, into, std::make_integer_sequence<int, kCount>());
  }
  // `count` floats that do not overlap.
  static CLVET_INLINE void copy(const float* from, int64_t count, float* to) {
    if (count >= kCount) {
      Float one;
      int64_t i = 0;
      for (; i + kCount <= count; i += kCount) load(from + i, one), store(one, to + i);
      if (i < count) load(from + count - kCount, one), store(one, to + count - kCount);
      return;
    }
    copy_bits<8>(count, from, to);
    copy_bits<4>(count, from, to);
    copy_bits<2>(count, from, to);
    if (count & 1) *to = *from;
  }
  static CLVET_INLINE float sum(const Float& lanes) {
    Float halved = lanes;
    fold<kCount / 2>(halved, std::make_integer_sequence<int, kCount>());
    float first;  // GCC 12 takes no element of a vector whose width hangs on a template's argument
    std::memcpy(&first, &halved, sizeof first);
    return first;
  }

 private:
  template <int kFloats>
  static CLVET_INLINE void copy_bits(int64_t count, const float*& from, float*& to) {
    if (!(count & kFloats)) return;
    std::memcpy(to, from, kFloats * sizeof(float));
    from += kFloats;
    to += kFloats;
  }
  // Adds to each lane the one `kApart` away, then that half as far, until all hold the sum.
  template <int kApart, int... kIndex>
  static CLVET_INLINE void fold(Float& lanes, std::integer_sequence<int, kIndex...> each) {
    const Float other = __builtin_shufflevector(lanes, lanes, (kIndex ^ kApart)...);
    lanes += other;
    if constexpr (kApart > 1) fold<kApart / 2>(lanes, each);
  }
  template <int... kIndex>
  static CLVET_INLINE void even(const Float& low, const Float& high, Float& into,
                                std::integer_sequence<int, kIndex...>) {
    into = __builtin_shufflevector(low, high, (2 * kIndex)...);
  }
};

}  // namespace clvet
