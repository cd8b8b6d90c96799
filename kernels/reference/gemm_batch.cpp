#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"

namespace clvet::op_contract_gemm_batch {
namespace {

// y[b] = act(x[b] * w[b] + bias) for B products of M x K and K x N; the rows of each are M / W
// image rows of W pixels.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"B", "M", "N", "K", "W"};
  CLVET_RETURN_IF_ERROR(need_positive("gemm_batch", dims, names));
  const int64_t b = dim(dims, "B"), m = dim(dims, "M"), w = dim(dims, "W");
  const int64_t n = dim(dims, "N"), k = dim(dims, "K");
  if (m % w != 0) {
    return fail(ErrorCode::kInvalidArgument, "gemm_batch: M = {} is not a multiple of W = {}", m,
                w);
  }
  TensorRole x{.name = "x", .n = b, .h = m / w, .w = w, .c = k};
  TensorRole weights{.name = "w", .kind = TensorKind::kWeights, .taps = b, .cin = k, .cout = n};
  TensorRole bias{.name = "bias", .kind = TensorKind::kVector, .c = n};
  TensorRole y{.name = "y", .kind = TensorKind::kOutput, .n = b, .h = m / w, .w = w, .c = n};
  return std::vector<TensorRole>{x, weights, bias, y};
}

ReferenceResult reference(const CallValues& values) {
  const Dims& dims = values.dims;
  const int64_t m = dim(dims, "M"), n = dim(dims, "N"), k = dim(dims, "K");
  const Values& x = values.tensors.find("x")->second;
  const Values& w = values.tensors.find("w")->second;
  ReferenceResult result;
  result.reduction = k + 1;
  for (int64_t row = 0; row < dim(dims, "B") * m; ++row) {
    RowSums sums(values.tensors.find("bias")->second);
    for (int64_t i = 0; i < k; ++i) {
      const double factor = x[static_cast<size_t>(row * k + i)];
      const double* line = w.data() + (row / m * k + i) * n;
      for (int64_t j = 0; j < n; ++j) sums.add(static_cast<size_t>(j), factor * line[j]);
    }
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"gemm_batch", roles, reference};

}  // namespace clvet::op_contract_gemm_batch
