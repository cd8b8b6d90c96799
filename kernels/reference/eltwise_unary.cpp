#include <array>

#include "kernels/act.h"

namespace clvet::op_contract_eltwise_unary {
namespace {

// y = act(x).
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C"};
  CLVET_RETURN_IF_ERROR(need_positive("eltwise_unary", dims, names));
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
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"eltwise_unary", roles, reference};

}  // namespace clvet::op_contract_eltwise_unary
