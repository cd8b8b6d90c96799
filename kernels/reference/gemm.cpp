#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/matmul.h"

namespace clvet::op_contract_gemm {
namespace {

// y[M, N] = act(x[M, K] * w[K, N] + bias[N]); the rows are M / W image rows of W pixels each.
Result<std::vector<TensorRole>> roles(const Dims& dims) { return matmul_of_pixels("gemm", dims); }

ReferenceResult reference(const CallValues& values) {
  return matmul_reference(values, dim(values.dims, "M"));
}

}  // namespace

extern const OpContract def;
const OpContract def = {"gemm", roles, reference};

}  // namespace clvet::op_contract_gemm
