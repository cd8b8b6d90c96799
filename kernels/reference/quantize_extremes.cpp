#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_quantize_extremes {
namespace {

// Row p of y, one of P = the largest and the smallest of x's texels p * n to p * n + n - 1, all of
// them cut into P parts of n but for the last ones; widened to hold 0. A texel is 4 neighbours of
// c.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "P"};
  CLVET_RETURN_IF_ERROR(need_positive("quantize_extremes", dims, names));
  return std::vector<TensorRole>{
      role_of(dims, "x", TensorKind::kInput),
      TensorRole{.name = "y", .kind = TensorKind::kOutput, .w = dim(dims, "P"), .c = 2}};
}

ReferenceResult reference(const CallValues& values) {
  const Values& x = values.tensors.find("x")->second;
  const int64_t c = dim(values.dims, "C"), parts = dim(values.dims, "P");
  const int64_t quads = (c + 3) / 4;
  const int64_t texels = static_cast<int64_t>(x.size()) / c * quads;
  const int64_t run = (texels + parts - 1) / parts;
  ReferenceResult result;
  result.in_float = true;
  result.value.assign(static_cast<size_t>(2 * parts), 0);
  for (size_t i = 0; i < x.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto part = static_cast<size_t>((at / c * quads + at % c / 4) / run);
    double& high = result.value[2 * part];
    double& low = result.value[2 * part + 1];
    high = larger(high, x[i]);
    low = smaller(low, x[i]);
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"quantize_extremes", roles, reference};

}  // namespace clvet::op_contract_quantize_extremes
