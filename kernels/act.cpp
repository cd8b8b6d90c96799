#include "kernels/act.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string_view>

#include "base/result.h"
#include "kernels/contract.h"

namespace clvet {
namespace {

constexpr double kGeluTanhScale = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kGeluTanhCube = 0.044715;

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

double gelu_tanh_slope(double z) {
  const double t = std::tanh(kGeluTanhScale * (z + kGeluTanhCube * z * z * z));
  const double inner = kGeluTanhScale * (1 + 3 * kGeluTanhCube * z * z);
  return 0.5 * (1 + t) + 0.5 * z * (1 - t * t) * inner;
}

double gelu_erf_slope(double z) {
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return 0.5 * (1 + std::erf(z / std::numbers::sqrt2)) + z * density;
}

double hard_swish_slope(double lo, double hi, double z) {
  const double gate = lo * z + hi;
  if (gate < 0) return 0;
  if (gate > 1) return 1;
  const double inner = lo * z + gate;
  if (gate == 1) return std::max(std::fabs(inner), 1.0);
  return inner;
}

}  // namespace

double apply_act(Act act, double lo, double hi, double z) {
  switch (act) {
    case Act::kNone:
      return z;
    case Act::kRelu:
      return std::max(z, 0.0);
    case Act::kClip:
      return std::min(std::max(z, lo), hi);
    case Act::kHardSigmoid:
      return std::min(std::max(lo * z + hi, 0.0), 1.0);
    case Act::kHardSwish:
      return z * std::min(std::max(lo * z + hi, 0.0), 1.0);
    case Act::kSigmoid:
      return sigmoid(z);
    case Act::kTanh:
      return std::tanh(z);
    case Act::kSilu:
      return z * sigmoid(z);
    case Act::kGeluErf:
      return 0.5 * z * (1 + std::erf(z / std::numbers::sqrt2));
    case Act::kGeluTanh:
      return 0.5 * z * (1 + std::tanh(kGeluTanhScale * (z + kGeluTanhCube * z * z * z)));
    case Act::kExp:
      return std::exp(z);
    case Act::kSqrt:
      return std::sqrt(z);
    case Act::kLeakyRelu:
      return z < 0 ? lo * z : z;
    case Act::kAffine:
      return lo * z + hi;
  }
  return z;
}

double act_slope(Act act, double lo, double hi, double z) {
  switch (act) {
    case Act::kNone:
      return 1;
    case Act::kRelu:
      return z >= 0 ? 1 : 0;
    case Act::kClip:
      return z >= lo && z <= hi ? 1 : 0;
    case Act::kHardSigmoid:
      return lo * z + hi >= 0 && lo * z + hi <= 1 ? std::fabs(lo) : 0;
    case Act::kHardSwish:
      return std::fabs(hard_swish_slope(lo, hi, z));
    case Act::kSigmoid:
      return sigmoid(z) * (1 - sigmoid(z));
    case Act::kTanh:
      return 1 - std::tanh(z) * std::tanh(z);
    case Act::kSilu:
      return std::fabs(sigmoid(z) * (1 + z * (1 - sigmoid(z))));
    case Act::kGeluErf:
      return std::fabs(gelu_erf_slope(z));
    case Act::kGeluTanh:
      return std::fabs(gelu_tanh_slope(z));
    case Act::kExp:
      return std::exp(z);
    case Act::kSqrt:
      return z > 0 ? 0.5 / std::sqrt(z) : 0;
    case Act::kLeakyRelu:
      return z < 0 ? std::fabs(lo) : z > 0 ? 1 : std::max(std::fabs(lo), 1.0);
    case Act::kAffine:
      return std::fabs(lo);
  }
  return 1;
}

double act_error(Act act, double lo, double hi, double z) {
  const double magnitude = std::fabs(z);
  switch (act) {
    case Act::kNone:
    case Act::kRelu:
    case Act::kClip:
      return 0;
    case Act::kHardSigmoid:
      return 2 * (std::fabs(lo * z) + std::fabs(hi));
    case Act::kHardSwish:
      return magnitude * 4 * std::min(std::fabs(lo * z) + std::fabs(hi), 4.0);
    case Act::kAffine:
      return 2 * (std::fabs(lo * z) + std::fabs(hi));
    case Act::kLeakyRelu:
      return 2 * magnitude * std::max(std::fabs(lo), 1.0);
    // exp is good to 3 ulp (6 roundoffs), and its argument's rounding is worth |z| more.
    case Act::kSigmoid:
      return 12;
    case Act::kTanh:
      return 24;
    case Act::kSilu:
      return 12 * magnitude;
    case Act::kGeluErf:
    case Act::kGeluTanh:
      return 24 * std::min(magnitude, 8.0) + (z > 8 ? 4 * z : 0);
    case Act::kExp:
      return (8 + 2 * magnitude) * std::exp(z);
    case Act::kSqrt:
      return z > 0 ? 8 * std::sqrt(z) : 0;
  }
  return 0;
}

double act_sensitivity(const Epilogue& epilogue, double z, double spread) {
  const auto slope = [&](double at) {
    return act_slope(epilogue.act, epilogue.lo, epilogue.hi, at);
  };
  double largest = std::max({slope(z), slope(z - spread), slope(z + spread),
                             slope(std::clamp(0.0, z - spread, z + spread))});
  if (epilogue.act == Act::kClip) {
    for (const double kink : {epilogue.lo, epilogue.hi}) {
      if (std::fabs(kink - z) <= spread) largest = std::max(largest, 1.0);
    }
  }
  const bool gated = epilogue.act == Act::kHardSigmoid || epilogue.act == Act::kHardSwish;
  if (gated && epilogue.lo != 0) {
    for (const double level : {0.0, 1.0}) {
      const double kink = (level - epilogue.hi) / epilogue.lo;
      if (std::fabs(kink - z) <= spread) largest = std::max(largest, slope(kink));
    }
  }
  return largest;
}

Epilogue epilogue_of(const CallValues& values) {
  const auto scalar = [&](std::string_view name) {
    const auto found = values.scalars.find(name);
    return found == values.scalars.end() ? 0.0
                                         : static_cast<double>(static_cast<float>(found->second));
  };
  return {static_cast<Act>(dim_or(values.dims, "act", 0)), scalar("act_lo"), scalar("act_hi")};
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
    result.functions[i] = act_error(epilogue.act, epilogue.lo, epilogue.hi, z);
    result.value[i] = apply_act(epilogue.act, epilogue.lo, epilogue.hi, z);
  }
}

Status need_positive(std::string_view op, const Dims& dims, std::span<const char* const> names) {
  for (const char* name : names) {
    const auto found = dims.find(name);
    if (found == dims.end()) {
      return fail(ErrorCode::kInvalidArgument, "{}: dim '{}' is absent", op, name);
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
