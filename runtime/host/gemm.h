// Float matrix products of the CPU path.
#pragma once

#include <cstdint>

#include "runtime/host/matrix.h"

namespace clvet {

// c = a * b, or c += a * b; c is row-major a.rows x b.columns, `stride` elements from row to row.
void gemm(const MatrixView& a, const MatrixView& b, float* c, int64_t stride, bool accumulate);

}  // namespace clvet
