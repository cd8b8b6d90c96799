#include "runtime/host/dot.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

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
#define CLVET_QUANTS(bytes)                                                \
  template <>                                                              \
  struct Quants<bytes> {                                                   \
    typedef uint8_t Bytes __attribute__((vector_size((bytes) / 4)));       \
    typedef uint16_t Shorts __attribute__((vector_size((bytes) / 2)));     \
    typedef int32_t Ints __attribute__((vector_size(bytes)));              \
    typedef float Floats __attribute__((vector_size(bytes)));              \
    static CLVET_INLINE void load(const uint8_t* from, Ints& into) {       \
      Bytes quants;                                                        \
      std::memcpy(&quants, from, sizeof quants);                           \
      const Shorts shorts = __builtin_convertvector(quants, Shorts);       \
      into = __builtin_convertvector(shorts, Ints);                        \
    }                                                                      \
    static CLVET_INLINE void to_floats(const Ints& quants, Floats& into) { \
      into = __builtin_convertvector(quants, Floats);                      \
    }                                                                      \
  }
CLVET_QUANTS(16);
CLVET_QUANTS(32);
CLVET_QUANTS(64);
#undef CLVET_QUANTS

constexpr int kBlock = 32, kHalf = kBlock / 2;

// The quants from number i of a block's first half on, and those as far into its second half.
struct Octets {
  static constexpr int kBlockBytes = kBlock;
  template <class Q, class Ints>
  static CLVET_INLINE void load(const uint8_t* block, int i, Ints& first, Ints& second) {
    Q::load(block + i, first);
    Q::load(block + i + kHalf, second);
  }
};

struct Nibbles {
  static constexpr int kBlockBytes = kHalf;
  template <class Q, class Ints>
  static CLVET_INLINE void load(const uint8_t* block, int i, Ints& first, Ints& second) {
    Q::load(block + i, second);
    first = second & 15;
    second = second >> 4;
  }
};

template <class Packing, int kBytes>
CLVET_INLINE void load_halves(const uint8_t* block, int i, typename Lanes<kBytes>::Float& first,
                              typename Lanes<kBytes>::Float& second) {
  using Q = Quants<kBytes>;
  typename Q::Ints low, high;
  Packing::template load<Q>(block, i, low, high);
  Q::to_floats(low, first);
  Q::to_floats(high, second);
}

template <class Packing>
struct DotBlocks {
  template <int kBytes>
  static CLVET_INLINE void run(const BlockRow* row, const float* x, const float* sums,
                               size_t blocks, float* result) {
    using L = Lanes<kBytes>;
    typename L::Float total{}, first, second, seen;
    const uint8_t* quants = row->quants;
    for (size_t b = 0; b < blocks; ++b, quants += Packing::kBlockBytes, x += kBlock) {
      typename L::Float block{};
      CLVET_UNROLL for (int i = 0; i < kHalf; i += L::kCount) {
        load_halves<Packing, kBytes>(quants, i, first, second);
        L::load(x + i, seen);
        block += first * seen;
        L::load(x + i + kHalf, seen);
        block += second * seen;
      }
      total += row->scales[b] * block;
    }
    size_t b = 0;
    for (; b + L::kCount <= blocks; b += L::kCount) {
      L::load(row->offsets + b, first);
      L::load(sums + b, seen);
      total += first * seen;
    }
    float sum = L::sum(total);
    for (; b < blocks; ++b) sum += row->offsets[b] * sums[b];
    *result = sum;
  }
};

template <class Packing>
struct ExpandBlocks {
  template <int kBytes>
  static CLVET_INLINE void run(const BlockRow* row, size_t blocks, float* values) {
    using L = Lanes<kBytes>;
    typename L::Float first, second;
    const uint8_t* quants = row->quants;
    for (size_t b = 0; b < blocks; ++b, quants += Packing::kBlockBytes, values += kBlock) {
      CLVET_UNROLL for (int i = 0; i < kHalf; i += L::kCount) {
        load_halves<Packing, kBytes>(quants, i, first, second);
        first = row->scales[b] * first + row->offsets[b];
        second = row->scales[b] * second + row->offsets[b];
        L::store(first, values + i);
        L::store(second, values + i + kHalf);
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

float dot_blocks(const BlockRow& row, const float* x, const float* sums, size_t blocks) {
  float result = 0;
  if (row.nibbles) {
    at_width<DotBlocks<Nibbles>>(&row, x, sums, blocks, &result);
  } else {
    at_width<DotBlocks<Octets>>(&row, x, sums, blocks, &result);
  }
  return result;
}

void expand_blocks(const BlockRow& row, size_t blocks, float* values) {
  if (row.nibbles) return at_width<ExpandBlocks<Nibbles>>(&row, blocks, values);
  at_width<ExpandBlocks<Octets>>(&row, blocks, values);
}

void pack_nibbles(std::vector<uint8_t>& quants) {
  uint8_t* to = quants.data();
  for (size_t block = 0; block + kBlock <= quants.size(); block += kBlock, to += kHalf) {
    const uint8_t* from = quants.data() + block;
    for (int i = 0; i < kHalf; ++i) to[i] = static_cast<uint8_t>(from[i] | from[i + kHalf] << 4);
  }
  quants.resize(quants.size() / 2);
  quants.shrink_to_fit();
}

}  // namespace clvet
