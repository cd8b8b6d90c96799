#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"
#include "kernels/reference/quantized.h"

namespace clvet::op_contract_quantize {
namespace {

// y = the level of x from `lo` to `hi` under `scale` and `zero`; kind 1: less the zero point, kind
// 2: and times the scale. The scale is from 2^-100 to 2^100. In float at every precision.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(need_kind("quantize", dims));
  return roles_of_a_map("quantize", dims);
}

double scalar(const CallValues& values, const char* name) {
  const auto found = values.scalars.find(name);
  return found == values.scalars.end() ? 0 : static_cast<double>(static_cast<float>(found->second));
}

ReferenceResult reference(const CallValues& values) {
  const LevelRange range{scalar(values, "scale"), scalar(values, "zero"), scalar(values, "lo"),
                         scalar(values, "hi")};
  return levels_of(values, range);
}

}  // namespace

extern const OpContract def;
const OpContract def = {"quantize", roles, reference};

}  // namespace clvet::op_contract_quantize
