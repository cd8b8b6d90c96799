#include <array>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/matmul.h"

namespace clvet::op_contract_gemm {
namespace {

// y[M, N] = act(x[M, K] * w[K, N] + bias[N]); the rows are M / W image rows of W pixels each.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"M", "N", "K", "W"};
  CLVET_RETURN_IF_ERROR(need_positive("gemm", dims, names));
  if (dim(dims, "M") % dim(dims, "W") != 0) {
    return fail(ErrorCode::kInvalidArgument, "gemm: M = {} is not a multiple of W = {}",
                dim(dims, "M"), dim(dims, "W"));
  }
  return matmul_roles(dim(dims, "M") / dim(dims, "W"), dim(dims, "W"), dim(dims, "N"),
                      dim(dims, "K"));
}

ReferenceResult reference(const CallValues& values) {
  return matmul_reference(values, dim(values.dims, "M"));
}

}  // namespace

extern const OpContract def;
const OpContract def = {"gemm", roles, reference};

}  // namespace clvet::op_contract_gemm
