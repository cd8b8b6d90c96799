#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_cum_sum {
namespace {

// y {N, H, W, C}: each element is the sum of those of x up to it along one axis, in float at every
// precision. Where `step` is 0, the axis is c, and L is C; else it has L places that are `step`
// pixels apart. `exclusive`: without the element itself. `reverse`: from the last one on.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "L"};
  CLVET_RETURN_IF_ERROR(need_positive("cum_sum", dims, names));
  const int64_t step = dim_or(dims, "step", -1), length = dim(dims, "L");
  const int64_t pixels = dim(dims, "N") * dim(dims, "H") * dim(dims, "W");
  const bool fits = step == 0 ? length == dim(dims, "C")
                              : step > 0 && pixels / length / step * step * length == pixels;
  if (!fits) {
    return fail(ErrorCode::kInvalidArgument, "cum_sum: no axis has L = {} and step = {}", length,
                step);
  }
  return roles_of_a_map("cum_sum", dims);
}

// A sum is made of those of neighbours, in any order. Each of these is the difference of two sums
// from the first element on, so at most twice the largest of them; with n elements it is rounded
// n - 1 times, each time by at most a roundoff of such a sum.
ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const Values& x = values.tensors.find("x")->second;
  const auto length = static_cast<size_t>(dim(d, "L"));
  const auto inner = static_cast<size_t>(dim(d, "step") == 0 ? 1 : dim(d, "step") * dim(d, "C"));
  const bool exclusive = dim(d, "exclusive") != 0, reverse = dim(d, "reverse") != 0;
  ReferenceResult result;
  result.in_float = true;
  result.value.resize(x.size());
  result.functions.resize(x.size());
  for (size_t line = 0; line < x.size() / length; ++line) {
    const size_t first = line / inner * length * inner + line % inner;
    double sum = 0, largest = 0, error = 0;
    for (size_t n = 0; n < length; ++n) {
      const size_t at = first + (reverse ? length - 1 - n : n) * inner;
      const double before = sum, error_before = error;
      sum += x[at];
      largest = std::max(largest, std::fabs(sum));
      error = 2 * static_cast<double>(n) * largest;
      result.value[at] = exclusive ? before : sum;
      result.functions[at] = exclusive ? error_before : error;
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"cum_sum", roles, reference};

}  // namespace clvet::op_contract_cum_sum
