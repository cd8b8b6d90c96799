#include <array>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/matmul.h"

namespace clvet::op_contract_gemv {
namespace {

// y[N] = act(x[K] * w[K, N] + bias[N]): gemm with one row.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "K"};
  CLVET_RETURN_IF_ERROR(need_positive("gemv", dims, names));
  return matmul_roles(1, 1, dim(dims, "N"), dim(dims, "K"));
}

ReferenceResult reference(const CallValues& values) { return matmul_reference(values, 1); }

}  // namespace

extern const OpContract def;
const OpContract def = {"gemv", roles, reference};

}  // namespace clvet::op_contract_gemv
