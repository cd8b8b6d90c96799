#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_copy_buffer_image {
namespace {

// y = x, x in buffer storage and y in image storage.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  return roles_of_a_map("copy_buffer_image", dims);
}

}  // namespace

extern const OpContract def;
const OpContract def = {"copy_buffer_image", roles, reference_of_a_copy};

}  // namespace clvet::op_contract_copy_buffer_image
