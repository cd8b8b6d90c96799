#include <array>

#include "kernels/act.h"

namespace clvet::op_contract_copy_image_buffer {
namespace {

// y = x, x in image storage and y in buffer storage.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C"};
  CLVET_RETURN_IF_ERROR(need_positive("copy_image_buffer", dims, names));
  TensorRole x{.name = "x",
               .kind = TensorKind::kInput,
               .n = dim(dims, "N"),
               .h = dim(dims, "H"),
               .w = dim(dims, "W"),
               .c = dim(dims, "C")};
  TensorRole y = x;
  y.name = "y";
  y.kind = TensorKind::kOutput;
  return std::vector<TensorRole>{x, y};
}

ReferenceResult reference(const CallValues& values) {
  ReferenceResult result;
  result.value = values.tensors.find("x")->second;
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"copy_image_buffer", roles, reference};

}  // namespace clvet::op_contract_copy_image_buffer
