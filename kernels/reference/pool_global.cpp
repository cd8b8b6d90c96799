#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_pool_global {
namespace {

// kind 0: largest value, 1: mean, over all H x W of a channel; y is {N, 1, 1, C}.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_ASSIGN_OR_RETURN(auto roles, roles_of_a_map("pool_global", dims));
  roles[1].h = roles[1].w = 1;
  return roles;
}

ReferenceResult reference(const CallValues& values) {
  const int64_t images = dim(values.dims, "N"), channels = dim(values.dims, "C");
  const int64_t pixels = dim(values.dims, "H") * dim(values.dims, "W");
  const bool average = dim_or(values.dims, "kind", 1) == 1;
  const Values& x = values.tensors.find("x")->second;
  ReferenceResult result;
  result.reduction = average ? pixels : 1;
  for (int64_t n = 0; n < images; ++n) {
    for (int64_t c = 0; c < channels; ++c) {
      double sum = 0, squares = 0, largest = -std::numeric_limits<double>::infinity();
      for (int64_t p = 0; p < pixels; ++p) {
        const double term = x[static_cast<size_t>((n * pixels + p) * channels + c)];
        sum += term;
        squares += term * term;
        largest = larger(largest, term);
      }
      const auto count = static_cast<double>(pixels);
      result.value.push_back(average ? sum / count : largest);
      if (average) result.sum_squares.push_back(squares / (count * count));
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"pool_global", roles, reference};

}  // namespace clvet::op_contract_pool_global
