#include "runtime/host/dot.h"

#include <cstdint>
#include <cstring>

#include "runtime/host/widest.h"

namespace clvet {
namespace {

constexpr size_t kLanes = 16;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Quants = uint8_t __attribute__((vector_size(kLanes)));
using Shorts = uint16_t __attribute__((vector_size(kLanes * sizeof(uint16_t))));
using Ints = int32_t __attribute__((vector_size(kLanes * sizeof(int32_t))));

// Vectors go by reference: by value Clang would call them in the narrowest version's way.
template <class Vector, class T>
inline __attribute__((always_inline)) void load(const T* from, Vector& into) {
  std::memcpy(&into, from, sizeof into);
}

// In steps that are one instruction each: GCC 12 converts bytes to floats one by one.
inline __attribute__((always_inline)) void widen(const uint8_t* from, Floats& into) {
  Quants quants;
  load(from, quants);
  into = __builtin_convertvector(
      __builtin_convertvector(__builtin_convertvector(quants, Shorts), Ints), Floats);
}

// To `sum`, the products of as many lanes.
inline __attribute__((always_inline)) void add_products(const float* a, const float* b,
                                                        Floats& sum) {
  Floats left, right;
  load(a, left);
  load(b, right);
  sum += left * right;
}

inline __attribute__((always_inline)) float sum_of(const Floats& lanes) {
  float sum = 0;
  for (size_t i = 0; i < kLanes; ++i) sum += lanes[i];
  return sum;
}

}  // namespace

CLVET_WIDEST float dot_f32(const float* a, const float* b, size_t count) {
  Floats first{}, second{};
  size_t i = 0;
  for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
    add_products(a + i, b + i, first);
    add_products(a + i + kLanes, b + i + kLanes, second);
  }
  float sum = sum_of(first + second);
  for (; i < count; ++i) sum += a[i] * b[i];
  return sum;
}

CLVET_WIDEST float dot_blocks(const uint8_t* quants, const float* scales, const float* offsets,
                              const float* x, const float* sums, size_t blocks) {
  Floats total{};
  float rest = 0;
  for (size_t b = 0; b < blocks; ++b, quants += 2 * kLanes, x += 2 * kLanes) {
    Floats low, high, x_low, x_high;
    widen(quants, low);
    widen(quants + kLanes, high);
    load(x, x_low);
    load(x + kLanes, x_high);
    total += scales[b] * (low * x_low + high * x_high);
    rest += offsets[b] * sums[b];
  }
  return sum_of(total) + rest;
}

CLVET_WIDEST void expand_blocks(const uint8_t* quants, const float* scales, const float* offsets,
                                size_t blocks, float* values) {
  for (size_t b = 0; b < blocks; ++b, quants += 2 * kLanes, values += 2 * kLanes) {
    Floats low, high;
    widen(quants, low);
    widen(quants + kLanes, high);
    low = scales[b] * low + offsets[b];
    high = scales[b] * high + offsets[b];
    std::memcpy(values, &low, sizeof low);
    std::memcpy(values + kLanes, &high, sizeof high);
  }
}

}  // namespace clvet
