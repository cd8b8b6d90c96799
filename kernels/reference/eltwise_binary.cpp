#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"
#include "kernels/reference/extents.h"

namespace clvet::op_contract_eltwise_binary {
namespace {

enum Code {
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMax,
  kMin,
  kPow,
  kSubReversed,
  kDivReversed,
  kPowReversed,
  kLess,
  kLessOrEqual,
  kLessReversed,
  kLessOrEqualReversed,
  kEqual,
  kIfAbove,
  kSlope,
  kNumberOr
};

// y = act(x1 code x2): 0 add, 1 sub, 2 mul, 3 div, 4 max, 5 min, 6 pow, 7 x2 - x1, 8 x2 / x1,
// 9 pow(x2, x1); 1 where it holds, else 0: 10 x1 < x2, 11 x1 <= x2, 12 x2 < x1, 13 x2 <= x1,
// 14 x1 == x2; 15 x1 where it is above x2, else 0; 16 x1, times x2 where it is below 0; 17 x1, or
// x2 where it is no number. Each extent N2, H2, W2, C2 of x2 is 1 or that of x1.
Result<std::vector<TensorRole>> roles(const Dims& dims) {
  constexpr std::array names = {"N", "H", "W", "C", "N2", "H2", "W2", "C2"};
  CLVET_RETURN_IF_ERROR(need_positive("eltwise_binary", dims, names));
  for (size_t i = 0; i < 4; ++i) {
    const int64_t second = dim(dims, names[i + 4]);
    if (second != 1 && second != dim(dims, names[i])) {
      return fail(ErrorCode::kInvalidArgument, "eltwise_binary: {} = {} is neither 1 nor {}",
                  names[i + 4], second, names[i]);
    }
  }
  const int64_t code = dim_or(dims, "code", -1);
  if (code < kAdd || code > kNumberOr) {
    return fail(ErrorCode::kInvalidArgument,
                "eltwise_binary: code = {} is not in the range 0 to 17", code);
  }
  return std::vector<TensorRole>{role_of(dims, "x1", TensorKind::kInput),
                                 role_of(dims, "x2", TensorKind::kInput, {"N2", "H2", "W2", "C2"}),
                                 role_of(dims, "y", TensorKind::kOutput)};
}

double compare(int64_t code, double a, double b) {
  switch (code) {
    case kLess:
      return a < b ? 1 : 0;
    case kLessOrEqual:
      return a <= b ? 1 : 0;
    case kLessReversed:
      return b < a ? 1 : 0;
    case kLessOrEqualReversed:
      return b <= a ? 1 : 0;
    default:
      return a == b ? 1 : 0;
  }
}

double combine(int64_t code, double a, double b) {
  switch (code) {
    case kAdd:
      return a + b;
    case kSub:
      return a - b;
    case kMul:
      return a * b;
    case kDiv:
      return a / b;
    case kMax:
      return larger(a, b);
    case kMin:
      return smaller(a, b);
    case kPow:
      return std::pow(a, b);
    case kSubReversed:
      return b - a;
    case kDivReversed:
      return b / a;
    case kPowReversed:
      return std::pow(b, a);
    case kIfAbove:
      return a > b ? a : 0;
    case kSlope:
      return a < 0 ? a * b : a;
    case kNumberOr:
      return std::isnan(a) ? b : a;
    default:
      return compare(code, a, b);
  }
}

// The rounding of the operation itself, as the square of the size that one roundoff is relative to:
// the operation counts as a reduction of one term. Division is good to 2.5 ulp, pow to 16.
double size_of(int64_t code, double a, double b, double z) {
  if (!std::isfinite(z)) return 0;
  if (code == kMax || code == kMin || (code >= kLess && code != kSlope)) return 0;
  if (code == kPow || code == kPowReversed) return 8 * z;
  if (code == kAdd || code == kSub || code == kSubReversed) return std::fabs(a) + std::fabs(b);
  return 2 * z;
}

ReferenceResult reference(const CallValues& values) {
  const Dims& d = values.dims;
  const int64_t h = dim(d, "H"), w = dim(d, "W"), c = dim(d, "C");
  const int64_t n2 = dim(d, "N2"), h2 = dim(d, "H2"), w2 = dim(d, "W2"), c2 = dim(d, "C2");
  const int64_t code = dim_or(d, "code", 0);
  const Values& x1 = values.tensors.find("x1")->second;
  const Values& x2 = values.tensors.find("x2")->second;
  ReferenceResult result;
  result.value.resize(x1.size());
  result.sum_squares.resize(x1.size());
  for (size_t i = 0; i < x1.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const int64_t ci = at % c, wi = at / c % w, hi = at / (c * w) % h, ni = at / (c * w * h);
    const int64_t other =
        (((n2 == 1 ? 0 : ni) * h2 + (h2 == 1 ? 0 : hi)) * w2 + (w2 == 1 ? 0 : wi)) * c2 +
        (c2 == 1 ? 0 : ci);
    const double a = x1[i], b = x2[static_cast<size_t>(other)];
    result.value[i] = combine(code, a, b);
    const double size = size_of(code, a, b, result.value[i]);
    result.sum_squares[i] = size * size;
  }
  apply_epilogue(epilogue_of(values), result);
  return result;
}

}  // namespace

extern const OpContract def;
const OpContract def = {"eltwise_binary", roles, reference};

}  // namespace clvet::op_contract_eltwise_binary
