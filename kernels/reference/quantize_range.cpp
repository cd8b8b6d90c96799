#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"
#include "kernels/reference/quantized.h"

namespace clvet::op_contract_quantize_range {
namespace {

// y = what 256 levels from min(low, 0) to max(high, 0) have: code 0 the scale, code 1 the zero
// point, beside a tie either one.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(need_positive("quantize_range", dims, kExtents));
  const int64_t code = dim_or(dims, "code", -1);
  if (code < 0 || code > 1) {
    return fail(ErrorCode::kInvalidArgument, "quantize_range: code = {} is not in the range 0 to 1",
                code);
  }
  return std::vector<TensorRole>{role_of(dims, "high", TensorKind::kInput),
                                 role_of(dims, "low", TensorKind::kInput),
                                 role_of(dims, "y", TensorKind::kOutput)};
}

ReferenceResult reference(const CallValues& values) {
  const Values& high = values.tensors.find("high")->second;
  const Values& low = values.tensors.find("low")->second;
  const bool wants_zero = dim(values.dims, "code") == 1;
  ReferenceResult result;
  result.in_float = true;
  for (size_t i = 0; i < high.size(); ++i) {
    const double bottom = smaller(0.0, low[i]), span = larger(0.0, high[i]) - bottom;
    const double scale = span < kLeastSpan ? 1 : span / 255;
    const double quotient = -bottom / scale;
    result.value.push_back(wants_zero ? std::nearbyint(quotient) : scale);
    const bool either = wants_zero && std::isfinite(quotient) && beside_a_tie(quotient);
    result.functions.push_back(wants_zero ? (either ? roundoffs_of(1) : 0) : 8 * scale);
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"quantize_range", roles, reference};

}  // namespace clvet::op_contract_quantize_range
