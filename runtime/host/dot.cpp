#include "runtime/host/dot.h"

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/host/lanes.h"
#include "runtime/host/width.h"

namespace clvet {
namespace {

struct Dot {
  template <int kBytes>
  static CLVET_INLINE void run(const float* a, const float* b, size_t count, float* result) {
    using L = Lanes<kBytes>;
    typename L::Float sums[4] = {}, left, right;
    size_t i = 0;
    for (; i + 4 * L::kCount <= count; i += 4 * L::kCount) {
      CLVET_UNROLL for (size_t k = 0; k < 4; ++k) {
        L::load(a + i + k * L::kCount, left);
        L::load(b + i + k * L::kCount, right);
        sums[k] += left * right;
      }
    }
    for (; i + L::kCount <= count; i += L::kCount) {
      L::load(a + i, left);
      L::load(b + i, right);
      sums[0] += left * right;
    }
    float sum = L::sum((sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (; i < count; ++i) sum += a[i] * b[i];
    *result = sum;
  }
};

// Dot products of kA rows of one matrix with kB of another, one vector of sums each.
struct Dots {
  template <int kBytes>
  static CLVET_INLINE void run(const DotRows* a, const DotRows* b, size_t count, float* out,
                               int64_t a_step, int64_t b_step) {
    int64_t i = 0;
    for (; i + 4 <= a->rows; i += 4) across<kBytes, 4>(*a, i, *b, count, out, a_step, b_step);
    for (; i < a->rows; ++i) across<kBytes, 1>(*a, i, *b, count, out, a_step, b_step);
  }

 private:
  template <int kBytes, int kA>
  static CLVET_INLINE void across(const DotRows& a, int64_t i, const DotRows& b, size_t count,
                                  float* out, int64_t a_step, int64_t b_step) {
    constexpr int kB = kBytes == 64 ? 4 : 2;
    int64_t j = 0;
    for (; j + kB <= b.rows; j += kB) tile<kBytes, kA, kB>(a, i, b, j, count, out, a_step, b_step);
    for (; j < b.rows; ++j) tile<kBytes, kA, 1>(a, i, b, j, count, out, a_step, b_step);
  }

  template <int kBytes, int kA, int kB>
  static CLVET_INLINE void tile(const DotRows& a, int64_t i, const DotRows& b, int64_t j,
                                size_t count, float* out, int64_t a_step, int64_t b_step) {
    using L = Lanes<kBytes>;
    typename L::Float sums[kA][kB] = {}, left, right[kB];
    const float *from_a = a.data + i * a.stride, *from_b = b.data + j * b.stride;
    size_t k = 0;
    for (; k + L::kCount <= count; k += L::kCount) {
      CLVET_UNROLL for (int q = 0; q < kB; ++q) L::load(from_b + q * b.stride + k, right[q]);
      CLVET_UNROLL for (int p = 0; p < kA; ++p) {
        L::load(from_a + p * a.stride + k, left);
        CLVET_UNROLL for (int q = 0; q < kB; ++q) sums[p][q] += left * right[q];
      }
    }
    CLVET_UNROLL for (int p = 0; p < kA; ++p) {
      CLVET_UNROLL for (int q = 0; q < kB; ++q) {
        float sum = L::sum(sums[p][q]);
        for (size_t rest = k; rest < count; ++rest)
          sum += from_a[p * a.stride + static_cast<int64_t>(rest)] *
                 from_b[q * b.stride + static_cast<int64_t>(rest)];
        out[(i + p) * a_step + (j + q) * b_step] = sum;
      }
    }
  }
};

// As many quants as a vector has floats, in steps that are one instruction each: GCC 12 converts
// bytes to floats one by one.
template <int kBytes>
struct Quants;
// One for each width: GCC 12 converts no vectors of types that hang on a template's arguments.
#define CLVET_QUANTS(bytes)                                                          \
  template <>                                                                        \
  struct Quants<bytes> {                                                             \
    typedef uint8_t Bytes __attribute__((vector_size((bytes) / 4)));                 \
    typedef uint16_t Shorts __attribute__((vector_size((bytes) / 2)));               \
    typedef int32_t Ints __attribute__((vector_size(bytes)));                        \
    typedef float Floats __attribute__((vector_size(bytes)));                        \
    static CLVET_INLINE void widen(const uint8_t* from, Floats& into) {              \
      Bytes quants;                                                                  \
      std::memcpy(&quants, from, sizeof quants);                                     \
      const Shorts shorts = __builtin_convertvector(quants, Shorts);                 \
      into = __builtin_convertvector(__builtin_convertvector(shorts, Ints), Floats); \
    }                                                                                \
  }
CLVET_QUANTS(16);
CLVET_QUANTS(32);
CLVET_QUANTS(64);
#undef CLVET_QUANTS

constexpr int kBlock = 32;

struct DotBlocks {
  template <int kBytes>
  static CLVET_INLINE void run(const uint8_t* quants, const float* scales, const float* x,
                               size_t blocks, float* result) {
    using L = Lanes<kBytes>;
    typename L::Float total{}, quant, seen;
    for (size_t b = 0; b < blocks; ++b, quants += kBlock, x += kBlock) {
      typename L::Float block{};
      CLVET_UNROLL for (int i = 0; i < kBlock; i += L::kCount) {
        Quants<kBytes>::widen(quants + i, quant);
        L::load(x + i, seen);
        block += quant * seen;
      }
      total += scales[b] * block;
    }
    *result = L::sum(total);
  }
};

struct ExpandBlocks {
  template <int kBytes>
  static CLVET_INLINE void run(const uint8_t* quants, const float* scales, const float* offsets,
                               size_t blocks, float* values) {
    using L = Lanes<kBytes>;
    typename L::Float quant;
    for (size_t b = 0; b < blocks; ++b, quants += kBlock, values += kBlock) {
      CLVET_UNROLL for (int i = 0; i < kBlock; i += L::kCount) {
        Quants<kBytes>::widen(quants + i, quant);
        quant = scales[b] * quant + offsets[b];
        L::store(quant, values + i);
      }
    }
  }
};

}  // namespace

float dot_f32(const float* a, const float* b, size_t count) {
  float result = 0;
  at_width<Dot>(a, b, count, &result);
  return result;
}

void dots_f32(const DotRows& a, const DotRows& b, size_t count, float* out, int64_t a_step,
              int64_t b_step) {
  at_width<Dots>(&a, &b, count, out, a_step, b_step);
}

float dot_blocks(const uint8_t* quants, const float* scales, const float* offsets, const float* x,
                 const float* sums, size_t blocks) {
  float result = 0;
  at_width<DotBlocks>(quants, scales, x, blocks, &result);
  return result + dot_f32(offsets, sums, blocks);
}

void expand_blocks(const uint8_t* quants, const float* scales, const float* offsets, size_t blocks,
                   float* values) {
  at_width<ExpandBlocks>(quants, scales, offsets, blocks, values);
}

}  // namespace clvet
