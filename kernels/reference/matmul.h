// What gemm and gemv share: x {1, h, w, K}, w [1][K][N], bias [N], y {1, h, w, N}.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"

namespace clvet {

inline std::vector<TensorRole> matmul_roles(int64_t h, int64_t w, int64_t n, int64_t k) {
  TensorRole x{.name = "x", .kind = TensorKind::kInput, .h = h, .w = w, .c = k};
  TensorRole weights{.name = "w", .kind = TensorKind::kWeights, .cin = k, .cout = n};
  TensorRole bias{.name = "bias", .kind = TensorKind::kVector, .c = n};
  TensorRole y{.name = "y", .kind = TensorKind::kOutput, .h = h, .w = w, .c = n};
  return {x, weights, bias, y};
}

// The roles of `op`, whose M rows are M / W image rows of W pixels each.
inline Result<std::vector<TensorRole>> matmul_of_pixels(std::string_view op, const Dims& dims) {
  constexpr std::array names = {"M", "N", "K", "W"};
  CLVET_RETURN_IF_ERROR(need_positive(op, dims, names));
  const int64_t m = dim(dims, "M"), w = dim(dims, "W");
  if (m % w != 0) {
    return fail(ErrorCode::kInvalidArgument, "{}: M = {} is not a multiple of W = {}", op, m, w);
  }
  return matmul_roles(m / w, w, dim(dims, "N"), dim(dims, "K"));
}

// z = x * w + bias of `rows` rows of x.
inline ReferenceResult matmul_sums(const CallValues& values, const Values& x, int64_t rows) {
  const int64_t depth = dim(values.dims, "K");
  const auto columns = static_cast<size_t>(dim(values.dims, "N"));
  const Values& w = values.tensors.find("w")->second;
  const Values& bias = values.tensors.find("bias")->second;
  ReferenceResult result;
  result.reduction = depth + 1;
  for (int64_t m = 0; m < rows; ++m) {
    RowSums sums(bias);
    for (int64_t k = 0; k < depth; ++k) {
      const double factor = x[static_cast<size_t>(m * depth + k)];
      const double* row = w.data() + static_cast<size_t>(k) * columns;
      for (size_t n = 0; n < columns; ++n) sums.add(n, factor * row[n]);
    }
    sums.append_to(result);
  }
  return result;
}

inline ReferenceResult matmul_reference(const CallValues& values, int64_t rows) {
  ReferenceResult result = matmul_sums(values, values.tensors.find("x")->second, rows);
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace clvet
