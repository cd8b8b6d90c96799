#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_cast_float_half {
namespace {

// y = x, x in float32 and y in half.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_ASSIGN_OR_RETURN(auto roles, roles_of_a_map("cast_float_half", dims));
  roles[0].in_float = true;
  return roles;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"cast_float_half", roles, reference_of_a_copy};

}  // namespace clvet::op_contract_cast_float_half
