#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"
#include "kernels/reference/quantized.h"

namespace clvet::op_contract_quantize_by {
namespace {

// As quantize, under a scale and a zero point that are known only at run time: one value each.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(need_positive("quantize_by", dims, kExtents));
  CLVET_RETURN_IF_ERROR(need_kind("quantize_by", dims));
  return std::vector<TensorRole>{role_of(dims, "x", TensorKind::kInput),
                                 TensorRole{.name = "scale", .kind = TensorKind::kInput},
                                 TensorRole{.name = "zero", .kind = TensorKind::kInput},
                                 role_of(dims, "y", TensorKind::kOutput)};
}

ReferenceResult reference(const CallValues& values) {
  const auto first = [&](const char* name) { return values.tensors.find(name)->second[0]; };
  const auto bound = [&](const char* name) { return values.scalars.find(name)->second; };
  const LevelRange range{first("scale"), first("zero"), bound("lo"), bound("hi")};
  return levels_of(values, range);
}

}  // namespace

extern const OpContract def;
const OpContract def = {"quantize_by", roles, reference};

}  // namespace clvet::op_contract_quantize_by
