#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/functions.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_eltwise_function {
namespace {

// y = f(x), f being row `code` of kernels/functions.h.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  const int64_t code = dim_or(dims, "code", -1);
  const auto count = static_cast<int64_t>(function_rows().size());
  if (code < 0 || code >= count) {
    return fail(ErrorCode::kInvalidArgument,
                "eltwise_function: code = {} is not in the range 0 to {}", code, count - 1);
  }
  return roles_of_a_map("eltwise_function", dims);
}

// An ulp is two roundoffs at most.
ReferenceResult reference(const CallValues& values) {
  const FunctionRow& row = function_rows()[static_cast<size_t>(dim(values.dims, "code"))];
  ReferenceResult result;
  result.in_float = true;
  result.value = values.tensors.find("x")->second;
  result.sensitivity.reserve(result.value.size());
  result.functions.reserve(result.value.size());
  for (double& z : result.value) {
    result.sensitivity.push_back(row.slope(z));
    z = row.value(z);
    result.functions.push_back(2 * row.ulps * std::fabs(z));
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"eltwise_function", roles, reference};

}  // namespace clvet::op_contract_eltwise_function
