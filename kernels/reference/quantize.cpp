#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"
#include "kernels/reference/quantized.h"

namespace clvet::op_contract_quantize {
namespace {

// y = the level of x from `lo` to `hi` under `scale` and `zero`; kind 1: less the zero point, kind
// 2: and times the scale. The scale is from 2^-100 to 2^100. In float at every precision.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  const int64_t kind = dim_or(dims, "kind", -1);
  if (kind < 0 || kind > 2) {
    return fail(ErrorCode::kInvalidArgument, "quantize: kind = {} is not in the range 0 to 2",
                kind);
  }
  return roles_of_a_map("quantize", dims);
}

double scalar(const CallValues& values, const char* name) {
  const auto found = values.scalars.find(name);
  return found == values.scalars.end() ? 0 : static_cast<double>(static_cast<float>(found->second));
}

ReferenceResult reference(const CallValues& values) {
  const LevelRange range{scalar(values, "scale"), scalar(values, "zero"), scalar(values, "lo"),
                         scalar(values, "hi")};
  ReferenceResult result;
  result.in_float = true;
  for (const double x : values.tensors.find("x")->second)
    add_level(x, range, dim(values.dims, "kind"), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"quantize", roles, reference};

}  // namespace clvet::op_contract_quantize
