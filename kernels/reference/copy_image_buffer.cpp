#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_copy_image_buffer {
namespace {

// y = x, x in image storage and y in buffer storage.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  return roles_of_a_map("copy_image_buffer", dims);
}

}  // namespace

extern const OpContract def;
const OpContract def = {"copy_image_buffer", roles, reference_of_a_copy};

}  // namespace clvet::op_contract_copy_image_buffer
