// The inner loops of a matrix product: a tile of the result stays in registers while the depth is
// walked.
#pragma once

#include <cstdint>

#include "runtime/host/lanes.h"
#include "runtime/host/width.h"

namespace clvet {

// Rows and vectors of a tile, as many as the registers hold beside a row of the right matrix.
template <int kBytes>
struct TileSize {
#if defined(__x86_64__)
  static constexpr int kRows = kBytes == 64 ? 8 : kBytes == 32 ? 6 : 4;
  static constexpr int kVectors = kBytes == 64 ? 3 : 2;
#else
  static constexpr int kRows = 8, kVectors = 3;
#endif
  static constexpr int64_t kColumns = kVectors * Lanes<kBytes>::kCount;
};

// c[rows][columns] = a[rows][depth] * b + bias, or += where `accumulate`. b lies in panels of
// TileSize::kColumns columns: element (k, j) of panel p at b[p * b_panel + k * b_stride + j]. The
// last panel is readable up to whole vectors.
struct ProductBlock {
  const float* a = nullptr;
  int64_t a_stride = 0;
  const float* b = nullptr;
  int64_t b_stride = 0, b_panel = 0;
  float* c = nullptr;
  int64_t c_stride = 0;
  int64_t rows = 0, columns = 0, depth = 0;
  bool accumulate = false;
  // Of a row, or of a column; both null: none. Not where `accumulate`.
  const float *row_bias = nullptr, *column_bias = nullptr;
};

struct ProductTiles {
  template <int kBytes>
  static CLVET_INLINE void run(const ProductBlock* block) {
    constexpr int kMost = TileSize<kBytes>::kRows;
    int64_t row = 0;
    for (; row + kMost <= block->rows; row += kMost) walk<kBytes, kMost>(*block, row);
    if (kMost > 4 && row + 4 <= block->rows) walk<kBytes, 4>(*block, row), row += 4;
    if (row + 2 <= block->rows) walk<kBytes, 2>(*block, row), row += 2;
    if (row < block->rows) walk<kBytes, 1>(*block, row);
  }

 private:
  template <int kBytes, int kRows>
  static CLVET_INLINE void walk(const ProductBlock& block, int64_t row) {
    constexpr int64_t kColumns = TileSize<kBytes>::kColumns, kLanes = Lanes<kBytes>::kCount;
    const float* b = block.b;
    for (int64_t column = 0; column < block.columns; column += kColumns, b += block.b_panel) {
      const int64_t left = block.columns - column;
      if (left >= kColumns)
        tile<kBytes, kRows, TileSize<kBytes>::kVectors, true>(block, row, column, b);
      else if (left > 2 * kLanes)
        tile<kBytes, kRows, TileSize<kBytes>::kVectors, false>(block, row, column, b);
      else if (left > kLanes)
        tile<kBytes, kRows, 2, false>(block, row, column, b);
      else
        tile<kBytes, kRows, 1, false>(block, row, column, b);
    }
  }

  template <int kBytes, int kRows, int kVectors, bool kWhole>
  static CLVET_INLINE void tile(const ProductBlock& block, int64_t row, int64_t column,
                                const float* b) {
    using L = Lanes<kBytes>;
    typename L::Float sum[kRows][kVectors] = {};
    const float* a[kRows];
    CLVET_UNROLL for (int i = 0; i < kRows; ++i) a[i] = block.a + (row + i) * block.a_stride;
    for (int64_t k = 0; k < block.depth; ++k, b += block.b_stride) {
      typename L::Float right[kVectors];
      CLVET_UNROLL for (int v = 0; v < kVectors; ++v) L::load(b + v * L::kCount, right[v]);
      CLVET_UNROLL for (int i = 0; i < kRows; ++i) {
        CLVET_UNROLL for (int v = 0; v < kVectors; ++v) sum[i][v] += a[i][k] * right[v];
      }
    }
    CLVET_UNROLL for (int i = 0; i < kRows; ++i) {
      float* c = block.c + (row + i) * block.c_stride + column;
      const float* before = block.accumulate    ? c
                            : block.column_bias ? block.column_bias + column
                                                : nullptr;
      const float bias = block.row_bias ? block.row_bias[row + i] : 0.f;
      CLVET_UNROLL for (int v = 0; v < kVectors; ++v) {
        const int64_t at = v * L::kCount;
        const int64_t left = kWhole ? L::kCount : block.columns - column - at;
        put<kBytes, kWhole>(sum[i][v], left, before ? before + at : nullptr, bias, c + at);
      }
    }
  }

  // The sum and what `before` holds for it, or else `bias`.
  template <int kBytes, bool kWhole>
  static CLVET_INLINE void put(typename Lanes<kBytes>::Float& sum, int64_t left,
                               const float* before, float bias, float* c) {
    using L = Lanes<kBytes>;
    typename L::Float more;
    L::fill(bias, more);
    if (kWhole || left >= L::kCount) {
      if (before) L::load(before, more);
      sum += more;
      return L::store(sum, c);
    }
    if (before) L::load_part(before, left, more);
    sum += more;
    L::store_part(sum, left, c);
  }
};

}  // namespace clvet
