#include <cstddef>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/matmul.h"

namespace clvet::op_contract_gemm_add {
namespace {

// As gemm, and r[M, N] is added before the activation: y = act(x * w + bias + r).
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_ASSIGN_OR_RETURN(auto roles, matmul_of_pixels("gemm_add", dims));
  TensorRole r = roles.back();
  r.name = "r";
  r.kind = TensorKind::kInput;
  roles.insert(roles.begin() + 1, r);
  return roles;
}

ReferenceResult reference(const CallValues& values) {
  ReferenceResult result =
      matmul_sums(values, values.tensors.find("x")->second, dim(values.dims, "M"));
  ++result.reduction;
  const Values& r = values.tensors.find("r")->second;
  for (size_t i = 0; i < r.size(); ++i) {
    result.value[i] += r[i];
    result.sum_squares[i] += r[i] * r[i];
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"gemm_add", roles, reference};

}  // namespace clvet::op_contract_gemm_add
