// Float matrix products of the CPU path.
#pragma once

#include <cstdint>

namespace clvet {

// A row-major matrix with `stride` elements from row to row; `transposed` reads it as its transpose
// (rows and columns are those after transposing).
struct MatrixView {
  const float* data = nullptr;
  int64_t rows = 0, columns = 0, stride = 0;
  bool transposed = false;
};

// c = a * b, or c += a * b; c is row-major a.rows x b.columns, `stride` elements from row to row.
void gemm(const MatrixView& a, const MatrixView& b, float* c, int64_t stride, bool accumulate);

}  // namespace clvet
