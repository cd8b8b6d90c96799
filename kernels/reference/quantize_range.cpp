#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/quantized.h"

namespace clvet::op_contract_quantize_range {
namespace {

// y[r] = what 256 levels from min(x[r][1], 0) to max(x[r][0], 0) have: code 0 the scale, code 1 the
// zero point, beside a tie either one.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"M"};
  CLVET_RETURN_IF_ERROR(need_positive("quantize_range", dims, names));
  const int64_t code = dim_or(dims, "code", -1);
  if (code < 0 || code > 1) {
    return fail(ErrorCode::kInvalidArgument, "quantize_range: code = {} is not in the range 0 to 1",
                code);
  }
  const int64_t rows = dim(dims, "M");
  return std::vector<TensorRole>{
      TensorRole{.name = "x", .kind = TensorKind::kInput, .w = rows, .c = 2},
      TensorRole{.name = "y", .kind = TensorKind::kOutput, .w = rows, .c = 1}};
}

ReferenceResult reference(const CallValues& values) {
  const Values& x = values.tensors.find("x")->second;
  const bool wants_zero = dim(values.dims, "code") == 1;
  ReferenceResult result;
  result.in_float = true;
  for (size_t i = 0; i + 1 < x.size(); i += 2) {
    const double bottom = smaller(0.0, x[i + 1]), span = larger(0.0, x[i]) - bottom;
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
