#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"

namespace clvet::op_contract_next_token {
namespace {

// The token with the greatest of N logits x, the first of those that are equal, and its embedding:
// y is that row of C values of `table`, and `said` x with y behind it. NaN is greater than nothing;
// if nothing is greater than -infinity, it is the first token. N and C are multiples of 4.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "C"};
  CLVET_RETURN_IF_ERROR(need_positive("next_token", dims, names));
  const int64_t n = dim(dims, "N"), c = dim(dims, "C");
  if (n % 4 != 0 || c % 4 != 0) {
    return fail(ErrorCode::kInvalidArgument, "next_token: N = {} and C = {} must be multiples of 4",
                n, c);
  }
  TensorRole x{.name = "x", .kind = TensorKind::kInput, .c = n};
  TensorRole table{.name = "table", .kind = TensorKind::kInput, .h = n, .c = c};
  TensorRole y{.name = "y", .kind = TensorKind::kOutput, .c = c};
  TensorRole said{.name = "said", .kind = TensorKind::kOutput, .c = n + c};
  return std::vector<TensorRole>{x, table, y, said};
}

ReferenceResult reference(const CallValues& values) {
  const Values& x = values.tensors.find("x")->second;
  const Values& table = values.tensors.find("table")->second;
  const auto width = static_cast<size_t>(dim(values.dims, "C"));
  size_t token = 0;
  double most = -INFINITY;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!(x[i] > most)) continue;
    most = x[i];
    token = i;
  }
  const auto row = table.begin() + static_cast<std::ptrdiff_t>(token * width);
  const auto end = row + static_cast<std::ptrdiff_t>(width);
  ReferenceResult result;
  result.value.assign(row, end);
  result.value.insert(result.value.end(), x.begin(), x.end());
  result.value.insert(result.value.end(), row, end);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"next_token", roles, reference};

}  // namespace clvet::op_contract_next_token
