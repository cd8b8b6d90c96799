#include "kernels/act.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "kernels/act_table.h"
#include "kernels/contract.h"

namespace clvet {

double act_sensitivity(const Epilogue& epilogue, double z, double spread) {
  const auto slope = [&](double at) {
    return act_slope(epilogue.act, epilogue.lo, epilogue.hi, at);
  };
  double largest = std::max({slope(z), slope(z - spread), slope(z + spread),
                             slope(std::clamp(0.0, z - spread, z + spread))});
  if (const auto kinks = act_row(epilogue.act).kinks) {
    for (const double kink : kinks(epilogue.lo, epilogue.hi)) {
      if (std::fabs(kink - z) <= spread) largest = std::max(largest, slope(kink));
    }
  }
  return largest;
}

Epilogue epilogue_of(const CallValues& values, std::string_view stem) {
  const std::string act = std::string(stem) + "act";
  const auto scalar = [&](const char* end) {
    const auto found = values.scalars.find(act + end);
    return found == values.scalars.end() ? 0.0
                                         : static_cast<double>(static_cast<float>(found->second));
  };
  return {static_cast<Act>(dim_or(values.dims, act, 0)), scalar("_lo"), scalar("_hi")};
}

void apply_epilogue(const Epilogue& epilogue, ReferenceResult& result) {
  if (epilogue.act == Act::kNone) return;
  const size_t count = result.value.size();
  result.sensitivity.resize(count);
  result.functions.resize(count);
  const double n = static_cast<double>(result.reduction);
  for (size_t i = 0; i < count; ++i) {
    const double z = result.value[i];
    const double size =
        result.sum_squares.empty() ? std::fabs(z) : std::sqrt(result.sum_squares[i]);
    const double spread = std::ldexp(size, -11) * (6 * std::sqrt(n / 2) + 4);
    result.sensitivity[i] = act_sensitivity(epilogue, z, spread);
    result.functions[i] = act_row(epilogue.act).error(z, epilogue.lo, epilogue.hi);
    result.value[i] = apply_act(epilogue.act, epilogue.lo, epilogue.hi, z);
  }
}

Status need_positive(std::string_view op, const Dims& dims, std::span<const char* const> names) {
  for (const char* name : names) {
    const auto found = dims.find(name);
    if (found == dims.end()) {
      return fail(ErrorCode::kInvalidArgument, "{}: dim '{}' is missing", op, name);
    }
    if (found->second < 1) {
      return fail(ErrorCode::kInvalidArgument, "{}: dim '{}' = {} is not positive", op, name,
                  found->second);
    }
  }
  return {};
}

int64_t dim_or(const Dims& dims, std::string_view name, int64_t otherwise) {
  const auto found = dims.find(name);
  return found == dims.end() ? otherwise : found->second;
}

int64_t dim(const Dims& dims, std::string_view name) { return dim_or(dims, name, 1); }

}  // namespace clvet
