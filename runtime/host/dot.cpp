#include "runtime/host/dot.h"

#include <cstdint>
#include <cstring>

// Compiled for each width of vectors that x86 processors have; the loader takes the widest that the
// machine knows. Elsewhere the compiler's target decides.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CLVET_WIDEST __attribute__((target_clones("avx512f", "arch=haswell", "default")))
#else
#define CLVET_WIDEST
#endif

namespace clvet {
namespace {

constexpr size_t kLanes = 16;
using Floats = float __attribute__((vector_size(kLanes * sizeof(float))));
using Quants = uint8_t __attribute__((vector_size(kLanes)));
using Shorts = uint16_t __attribute__((vector_size(kLanes * sizeof(uint16_t))));
using Ints = int32_t __attribute__((vector_size(kLanes * sizeof(int32_t))));

template <class Vector, class T>
inline __attribute__((always_inline)) Vector load(const T* from) {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}

// In steps that are one instruction each: GCC 12 converts bytes to floats one by one.
inline __attribute__((always_inline)) Floats widened(const uint8_t* from) {
  const Shorts shorts = __builtin_convertvector(load<Quants>(from), Shorts);
  return __builtin_convertvector(__builtin_convertvector(shorts, Ints), Floats);
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
    first += load<Floats>(a + i) * load<Floats>(b + i);
    second += load<Floats>(a + i + kLanes) * load<Floats>(b + i + kLanes);
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
    const Floats low = widened(quants), high = widened(quants + kLanes);
    total += scales[b] * (low * load<Floats>(x) + high * load<Floats>(x + kLanes));
    rest += offsets[b] * sums[b];
  }
  return sum_of(total) + rest;
}

}  // namespace clvet
