#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/row_sums.h"

namespace clvet::op_contract_bmm {
namespace {

// y[n, h] = act(x1[n, h] * x2[n, h]): a product of M x K and K x C for each of the N * H pairs. N2
// is 1 or N, H2 is 1 or H: an extent of 1 serves them all.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "M", "K", "C", "N2", "H2"};
  CLVET_RETURN_IF_ERROR(need_positive("bmm", dims, names));
  const int64_t n = dim(dims, "N"), h = dim(dims, "H"), n2 = dim(dims, "N2"), h2 = dim(dims, "H2");
  if (n2 != 1 && n2 != n) {
    return fail(ErrorCode::kInvalidArgument, "bmm: N2 = {} is neither 1 nor {}", n2, n);
  }
  if (h2 != 1 && h2 != h) {
    return fail(ErrorCode::kInvalidArgument, "bmm: H2 = {} is neither 1 nor {}", h2, h);
  }
  const int64_t m = dim(dims, "M"), k = dim(dims, "K"), c = dim(dims, "C");
  TensorRole x1{.name = "x1", .kind = TensorKind::kInput, .n = n, .h = h, .w = m, .c = k};
  TensorRole x2{.name = "x2", .kind = TensorKind::kInput, .n = n2, .h = h2, .w = k, .c = c};
  TensorRole y{.name = "y", .kind = TensorKind::kOutput, .n = n, .h = h, .w = m, .c = c};
  return std::vector<TensorRole>{x1, x2, y};
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const int64_t n = dim(d, "N"), h = dim(d, "H"), m = dim(d, "M"), k = dim(d, "K");
  const auto c = static_cast<size_t>(dim(d, "C"));
  const int64_t n2 = dim(d, "N2"), h2 = dim(d, "H2");
  const double* x1 = values.tensors.find("x1")->second.data();
  const double* x2 = values.tensors.find("x2")->second.data();
  ReferenceResult result;
  result.reduction = k;
  for (int64_t row = 0; row < n * h * m; ++row) {
    const int64_t ni = row / (h * m), hi = row / m % h;
    const int64_t pair = (n2 == 1 ? 0 : ni) * h2 + (h2 == 1 ? 0 : hi);
    RowSums sums(c);
    for (int64_t i = 0; i < k; ++i) {
      const double* line = x2 + (pair * k + i) * static_cast<int64_t>(c);
      for (size_t j = 0; j < c; ++j) sums.add(j, x1[row * k + i] * line[j]);
    }
    sums.append_to(result);
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"bmm", roles, reference};

}  // namespace clvet::op_contract_bmm
