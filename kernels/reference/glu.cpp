#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/act_table.h"
#include "kernels/contract.h"

namespace clvet::op_contract_glu {
namespace {

// y[r, f] = act(x[r, f]) * x[r, F + f], in float at every precision: M rows of 2F values become
// rows of F, W of them a line. F is a multiple of 4.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"M", "W", "F", "act"};
  CLVET_RETURN_IF_ERROR(need_positive("glu", dims, names));
  const int64_t m = dim(dims, "M"), w = dim(dims, "W"), f = dim(dims, "F");
  if (m % w != 0 || f % 4 != 0) {
    return fail(ErrorCode::kInvalidArgument,
                "glu: M = {} must be a multiple of W = {}, and F = {} a multiple of 4", m, w, f);
  }
  TensorRole x{.name = "x", .kind = TensorKind::kInput, .h = m / w, .w = w, .c = 2 * f};
  TensorRole y{.name = "y", .kind = TensorKind::kOutput, .h = m / w, .w = w, .c = f};
  return std::vector<TensorRole>{x, y};
}

ReferenceResult reference(const CallValues& values) {
  const int64_t rows = dim(values.dims, "M"), f = dim(values.dims, "F");
  const Epilogue act = epilogue_of(values);
  const double* x = values.tensors.find("x")->second.data();
  ReferenceResult result;
  result.in_float = true;
  for (int64_t r = 0; r < rows; ++r, x += 2 * f) {
    for (int64_t i = 0; i < f; ++i) {
      const double z = x[i], factor = x[f + i];
      const double gate = apply_act(act.act, act.lo, act.hi, z);
      result.value.push_back(gate * factor);
      result.sensitivity.push_back(std::fabs(gate) +
                                   std::fabs(factor) * act_slope(act.act, act.lo, act.hi, z));
      result.functions.push_back(std::fabs(factor) * act_row(act.act).error(z, act.lo, act.hi) +
                                 2 * std::fabs(gate * factor));
    }
  }
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"glu", roles, reference};

}  // namespace clvet::op_contract_glu
