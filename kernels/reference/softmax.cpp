#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/rows.h"

namespace clvet::op_contract_softmax {
namespace {

// y[r, :] = exp(x[r, :] - max) / sum, over the C values of each row; rows as in gemm, M = rows.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  CLVET_RETURN_IF_ERROR(Rows::check("softmax", dims));
  const Rows rows(dims);
  return std::vector<TensorRole>{rows.input(), rows.output(rows.c)};
}

// The sums are in float at every precision; an exp is good to 3 ulp, its argument's rounding is
// worth |x - max| roundoffs, the sum and the division a few more, all relative to y.
ReferenceResult reference(const CallValues& values) {
  const auto rows = static_cast<size_t>(dim(values.dims, "M"));
  const auto channels = static_cast<size_t>(dim(values.dims, "C"));
  const Values& x = values.tensors.find("x")->second;
  ReferenceResult result;
  result.value.resize(x.size());
  result.functions.resize(x.size());
  result.sensitivity.resize(x.size());
  for (size_t r = 0; r < rows; ++r) {
    const double* row = x.data() + r * channels;
    const double largest = *std::max_element(row, row + channels);
    double sum = 0;
    for (size_t c = 0; c < channels; ++c) sum += std::exp(row[c] - largest);
    const double walk = 2 * std::sqrt(static_cast<double>(channels));
    for (size_t c = 0; c < channels; ++c) {
      const double y = std::exp(row[c] - largest) / sum;
      result.value[r * channels + c] = y;
      result.functions[r * channels + c] = y * (16 + 2 * (largest - row[c]) + walk);
      result.sensitivity[r * channels + c] = y;
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"softmax", roles, reference};

}  // namespace clvet::op_contract_softmax
