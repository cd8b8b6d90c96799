#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_cast_half_float {
namespace {

// y = x, x in half and y in float32.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_ASSIGN_OR_RETURN(auto roles, roles_of_a_map("cast_half_float", dims));
  roles[1].in_float = true;
  return roles;
}

ReferenceResult reference(const CallValues& values) {
  ReferenceResult result = reference_of_a_copy(values);
  result.stored_in_float = true;
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"cast_half_float", roles, reference};

}  // namespace clvet::op_contract_cast_half_float
