// What gemm and gemv share: x {1, h, w, K}, w [1][K][N], bias [N], y {1, h, w, N}.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/act.h"
#include "kernels/contract.h"

namespace clvet {

inline std::vector<TensorRole> matmul_roles(int64_t h, int64_t w, int64_t n, int64_t k) {
  TensorRole x{.name = "x", .kind = TensorKind::kInput, .h = h, .w = w, .c = k};
  TensorRole weights{.name = "w", .kind = TensorKind::kWeights, .cin = k, .cout = n};
  TensorRole bias{.name = "bias", .kind = TensorKind::kVector, .c = n};
  TensorRole y{.name = "y", .kind = TensorKind::kOutput, .h = h, .w = w, .c = n};
  return {x, weights, bias, y};
}

inline ReferenceResult matmul_reference(const CallValues& values, int64_t rows) {
  const int64_t columns = dim(values.dims, "N"), depth = dim(values.dims, "K");
  const Values& x = values.tensors.find("x")->second;
  const Values& w = values.tensors.find("w")->second;
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  result.reduction = depth + 1;
  for (int64_t m = 0; m < rows; ++m) {
    Values sum(bias), squares(bias);
    for (double& square : squares) square *= square;
    for (int64_t k = 0; k < depth; ++k) {
      const double factor = x[static_cast<size_t>(m * depth + k)];
      const double* row = w.data() + k * columns;
      for (int64_t n = 0; n < columns; ++n) {
        const double term = factor * row[n];
        sum[static_cast<size_t>(n)] += term;
        squares[static_cast<size_t>(n)] += term * term;
      }
    }
    result.value.insert(result.value.end(), sum.begin(), sum.end());
    result.sum_squares.insert(result.sum_squares.end(), squares.begin(), squares.end());
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace clvet
