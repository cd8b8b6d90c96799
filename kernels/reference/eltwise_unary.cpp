#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_eltwise_unary {
namespace {

// y = act(x).
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  return roles_of_a_map("eltwise_unary", dims);
}

ReferenceResult reference(const CallValues& values) {
  ReferenceResult result;
  result.value = values.tensors.find("x")->second;
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"eltwise_unary", roles, reference};

}  // namespace clvet::op_contract_eltwise_unary
