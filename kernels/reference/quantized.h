// Levels of quantised numbers and how far a right kernel may be from them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "kernels/act.h"
#include "kernels/contract.h"

namespace clvet {

// The least range that 256 levels are spread over; of a smaller one the scale is 1.
inline constexpr double kLeastSpan = 0x1p-100;

// Division is good to 2.5 ulp, which are at most 5 roundoffs.
inline bool beside_a_tie(double quotient) {
  const double fraction = std::fabs(quotient - std::floor(quotient) - 0.5);
  return fraction <= 5 * std::ldexp(std::fabs(quotient), -24);
}

// A step of the result, in roundoffs of float.
inline double roundoffs_of(double step) { return std::ldexp(step, 24); }

struct LevelRange {
  double scale = 1, zero = 0, lo = 0, hi = 255;
};

// y = the level of x, clamp(rint(x / scale) + zero, lo, hi), ties to even, 0 for NaN; `kind` 1:
// less the zero point; 2: and times the scale. Beside a tie either level is right.
inline void add_level(double x, const LevelRange& range, int64_t kind, ReferenceResult& result) {
  const double quotient = x / range.scale;
  const double number = std::nearbyint(quotient) + range.zero;
  const double level = std::isnan(number) ? 0 : std::clamp(number, range.lo, range.hi);
  const double less = kind > 0 ? range.zero : 0, times = kind > 1 ? range.scale : 1;
  const double value = (level - less) * times;
  const bool either = std::isfinite(quotient) && beside_a_tie(quotient) && number >= range.lo - 1 &&
                      number <= range.hi + 1;
  result.value.push_back(value);
  result.functions.push_back(2 * (std::fabs(value) + 2 * std::fabs(less * times)) +
                             (either ? roundoffs_of(times) : 0));
}

// What quantize and quantize_by give of x, in float at every precision.
inline ReferenceResult levels_of(const CallValues& values, const LevelRange& range) {
  ReferenceResult result;
  result.in_float = true;
  for (const double x : values.tensors.find("x")->second)
    add_level(x, range, dim(values.dims, "kind"), result);
  return result;
}

inline Status need_kind(std::string_view op, const Dims& dims) {
  const int64_t kind = dim_or(dims, "kind", -1);
  if (kind >= 0 && kind <= 2) return {};
  return fail(ErrorCode::kInvalidArgument, "{}: kind = {} is not in the range 0 to 2", op, kind);
}

}  // namespace clvet
