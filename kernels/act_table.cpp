#include "kernels/act_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numbers>
#include <span>
#include <string>
#include <string_view>

#include "kernels/contract.h"

namespace clvet {
namespace {

constexpr double kGeluTanhScale = 0.7978845608028654;  // sqrt(2 / pi)
constexpr double kGeluTanhCube = 0.044715;

double sigmoid(double z) { return 1 / (1 + std::exp(-z)); }

double gelu_tanh_slope(double z, double, double) {
  const double t = std::tanh(kGeluTanhScale * (z + kGeluTanhCube * z * z * z));
  const double inner = kGeluTanhScale * (1 + 3 * kGeluTanhCube * z * z);
  return std::fabs(0.5 * (1 + t) + 0.5 * z * (1 - t * t) * inner);
}

double gelu_erf_slope(double z, double, double) {
  const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
  return std::fabs(0.5 * (1 + std::erf(z / std::numbers::sqrt2)) + z * density);
}

double gelu_error(double z, double, double) {
  return 24 * std::min(std::fabs(z), 8.0) + (z > 8 ? 4 * z : 0);
}

double hard_swish_slope(double z, double lo, double hi) {
  const double gate = lo * z + hi;
  if (gate < 0) return 0;
  if (gate > 1) return 1;
  const double inner = lo * z + gate;
  if (gate == 1) return std::max(std::fabs(inner), 1.0);
  return std::fabs(inner);
}

double exact(double, double, double) { return 0; }
double flat(double, double, double) { return 0; }

double affine_error(double z, double lo, double hi) {
  return 2 * (std::fabs(lo * z) + std::fabs(hi));
}

std::array<double, 2> bounds(double lo, double hi) { return {lo, hi}; }

std::array<double, 2> ends_of_gate(double lo, double hi) { return {-hi / lo, (1 - hi) / lo}; }

// exp is good to 3 ulp (6 roundoffs), and its argument's rounding is worth |z| more.
const ActRow kRows[] = {
    {.act = Act::kNone,
     .name = "none",
     .value = [](double z, double, double) { return z; },
     .slope = [](double, double, double) { return 1.0; },
     .error = exact,
     .opencl = "z"},
    {.act = Act::kRelu,
     .name = "relu",
     .value = [](double z, double, double) { return std::max(z, 0.0); },
     .slope = [](double z, double, double) { return z >= 0 ? 1.0 : 0.0; },
     .error = exact,
     .onnx = "Relu",
     .opencl = "z < (act_float)(0.0f) ? (act_float)(0.0f) : z"},
    {.act = Act::kClip,
     .name = "clip",
     .value = [](double z, double lo, double hi) { return std::min(std::max(z, lo), hi); },
     .slope = [](double z, double lo, double hi) { return z >= lo && z <= hi ? 1.0 : 0.0; },
     .error = exact,
     .kinks = bounds,
     .opencl = "between(z, (act_float)(lo), (act_float)(hi))"},
    {.act = Act::kHardSigmoid,
     .name = "hard_sigmoid",
     .value = [](double z, double lo,
                 double hi) { return std::min(std::max(lo * z + hi, 0.0), 1.0); },
     .slope = [](double z, double lo,
                 double hi) { return lo * z + hi >= 0 && lo * z + hi <= 1 ? std::fabs(lo) : 0; },
     .error = affine_error,
     .kinks = ends_of_gate,
     .onnx = "HardSigmoid",
     .alpha = 0.2,
     .beta = 0.5},
    {.act = Act::kHardSwish,
     .name = "hard_swish",
     .value = [](double z, double lo,
                 double hi) { return z * std::min(std::max(lo * z + hi, 0.0), 1.0); },
     .slope = hard_swish_slope,
     .error =
         [](double z, double lo, double hi) {
           return std::fabs(z) * 4 * std::min(std::fabs(lo * z) + std::fabs(hi), 4.0);
         },
     .kinks = ends_of_gate,
     .onnx = "HardSwish",
     .alpha = 1.0 / 6,
     .beta = 0.5},
    {.act = Act::kSigmoid,
     .name = "sigmoid",
     .value = [](double z, double, double) { return sigmoid(z); },
     .slope = [](double z, double, double) { return sigmoid(z) * (1 - sigmoid(z)); },
     .error = [](double, double, double) { return 12.0; },
     .onnx = "Sigmoid"},
    {.act = Act::kTanh,
     .name = "tanh",
     .value = [](double z, double, double) { return std::tanh(z); },
     .slope = [](double z, double, double) { return 1 - std::tanh(z) * std::tanh(z); },
     .error = [](double, double, double) { return 24.0; },
     .onnx = "Tanh"},
    {.act = Act::kSilu,
     .name = "silu",
     .value = [](double z, double, double) { return z * sigmoid(z); },
     .slope = [](double z, double,
                 double) { return std::fabs(sigmoid(z) * (1 + z * (1 - sigmoid(z)))); },
     .error = [](double z, double, double) { return 12 * std::fabs(z); }},
    {.act = Act::kGeluErf,
     .name = "gelu_erf",
     .value = [](double z, double,
                 double) { return 0.5 * z * (1 + std::erf(z / std::numbers::sqrt2)); },
     .slope = gelu_erf_slope,
     .error = gelu_error},
    {.act = Act::kGeluTanh,
     .name = "gelu_tanh",
     .value =
         [](double z, double, double) {
           return 0.5 * z * (1 + std::tanh(kGeluTanhScale * (z + kGeluTanhCube * z * z * z)));
         },
     .slope = gelu_tanh_slope,
     .error = gelu_error},
    {.act = Act::kExp,
     .name = "exp",
     .value = [](double z, double, double) { return std::exp(z); },
     .slope = [](double z, double, double) { return std::exp(z); },
     .error = [](double z, double, double) { return (8 + 2 * std::fabs(z)) * std::exp(z); },
     .onnx = "Exp",
     .fused = false},
    {.act = Act::kSqrt,
     .name = "sqrt",
     .value = [](double z, double, double) { return std::sqrt(z); },
     .slope = [](double z, double, double) { return z > 0 ? 0.5 / std::sqrt(z) : 0; },
     .error = [](double z, double, double) { return z > 0 ? 8 * std::sqrt(z) : 0; },
     .not_negative = true,
     .onnx = "Sqrt",
     .fused = false,
     .opencl = "sqrt(z)"},
    {.act = Act::kLeakyRelu,
     .name = "leaky_relu",
     .value = [](double z, double lo, double) { return z < 0 ? lo * z : z; },
     .slope =
         [](double z, double lo, double) {
           return z < 0 ? std::fabs(lo) : z > 0 ? 1 : std::max(std::fabs(lo), 1.0);
         },
     .error = [](double z, double lo,
                 double) { return 2 * std::fabs(z) * std::max(std::fabs(lo), 1.0); },
     .onnx = "LeakyRelu",
     .alpha = 0.01,
     .opencl = "z < (act_float)(0.0f) ? lo * z : z"},
    {.act = Act::kAffine,
     .name = "affine",
     .value = [](double z, double lo, double hi) { return lo * z + hi; },
     .slope = [](double, double lo, double) { return std::fabs(lo); },
     .error = affine_error,
     .opencl = "mad((act_float)(lo), z, (act_float)(hi))"},
    // OpenCL C's own functions, good to as many ulp (of two roundoffs each) as its specification
    // says. But PoCL's cos() of 1e-30 is 5e-5 too small: near 0 a parabola is as good.
    {.act = static_cast<Act>(14),
     .name = "sin",
     .value = [](double z, double, double) { return std::sin(z); },
     .slope = [](double z, double, double) { return std::fabs(std::cos(z)); },
     .error = [](double z, double, double) { return 8 * std::fabs(std::sin(z)); },
     .onnx = "Sin",
     .fused = false,
     .alone = true,
     .opencl = "sin(z)"},
    {.act = static_cast<Act>(15),
     .name = "cos",
     .value = [](double z, double, double) { return std::cos(z); },
     .slope = [](double z, double, double) { return std::fabs(std::sin(z)); },
     .error = [](double z, double, double) { return 8 * std::fabs(std::cos(z)); },
     .onnx = "Cos",
     .fused = false,
     .alone = true,
     .opencl = "fabs(z) < 0.001f ? 1.0f - 0.5f * z * z : cos(z)"},
    {.act = static_cast<Act>(16),
     .name = "tan",
     .value = [](double z, double, double) { return std::tan(z); },
     .slope = [](double z, double, double) { return 1 + std::tan(z) * std::tan(z); },
     .error = [](double z, double, double) { return 10 * std::fabs(std::tan(z)); },
     .onnx = "Tan",
     .fused = false,
     .alone = true,
     .opencl = "tan(z)"},
    {.act = static_cast<Act>(17),
     .name = "asin",
     .value = [](double z, double, double) { return std::asin(z); },
     .slope = [](double z, double, double) { return 1 / std::sqrt(1 - z * z); },
     .error = [](double z, double, double) { return 8 * std::fabs(std::asin(z)); },
     .onnx = "Asin",
     .fused = false,
     .alone = true,
     .opencl = "asin(z)"},
    {.act = static_cast<Act>(18),
     .name = "acos",
     .value = [](double z, double, double) { return std::acos(z); },
     .slope = [](double z, double, double) { return 1 / std::sqrt(1 - z * z); },
     .error = [](double z, double, double) { return 8 * std::fabs(std::acos(z)); },
     .onnx = "Acos",
     .fused = false,
     .alone = true,
     .opencl = "acos(z)"},
    {.act = static_cast<Act>(19),
     .name = "atan",
     .value = [](double z, double, double) { return std::atan(z); },
     .slope = [](double z, double, double) { return 1 / (1 + z * z); },
     .error = [](double z, double, double) { return 10 * std::fabs(std::atan(z)); },
     .onnx = "Atan",
     .fused = false,
     .alone = true,
     .opencl = "atan(z)"},
    {.act = static_cast<Act>(20),
     .name = "sinh",
     .value = [](double z, double, double) { return std::sinh(z); },
     .slope = [](double z, double, double) { return std::cosh(z); },
     .error = [](double z, double, double) { return 8 * std::fabs(std::sinh(z)); },
     .onnx = "Sinh",
     .fused = false,
     .alone = true,
     .opencl = "sinh(z)"},
    {.act = static_cast<Act>(21),
     .name = "cosh",
     .value = [](double z, double, double) { return std::cosh(z); },
     .slope = [](double z, double, double) { return std::fabs(std::sinh(z)); },
     .error = [](double z, double, double) { return 8 * std::fabs(std::cosh(z)); },
     .onnx = "Cosh",
     .fused = false,
     .alone = true,
     .opencl = "cosh(z)"},
    {.act = static_cast<Act>(22),
     .name = "asinh",
     .value = [](double z, double, double) { return std::asinh(z); },
     .slope = [](double z, double, double) { return 1 / std::sqrt(1 + z * z); },
     .error = [](double z, double, double) { return 8 * std::fabs(std::asinh(z)); },
     .onnx = "Asinh",
     .fused = false,
     .alone = true,
     .opencl = "asinh(z)"},
    {.act = static_cast<Act>(23),
     .name = "acosh",
     .value = [](double z, double, double) { return std::acosh(z); },
     .slope = [](double z, double, double) { return 1 / std::sqrt(z * z - 1); },
     .error = [](double z, double, double) { return 8 * std::fabs(std::acosh(z)); },
     .onnx = "Acosh",
     .fused = false,
     .alone = true,
     .opencl = "acosh(z)"},
    {.act = static_cast<Act>(24),
     .name = "atanh",
     .value = [](double z, double, double) { return std::atanh(z); },
     .slope = [](double z, double, double) { return 1 / (1 - z * z); },
     .error = [](double z, double, double) { return 10 * std::fabs(std::atanh(z)); },
     .onnx = "Atanh",
     .fused = false,
     .alone = true,
     .opencl = "atanh(z)"},
    {.act = static_cast<Act>(25),
     .name = "erf",
     .value = [](double z, double, double) { return std::erf(z); },
     .slope = [](double z, double,
                 double) { return 2 / std::sqrt(std::numbers::pi) * std::exp(-z * z); },
     .error = [](double z, double, double) { return 32 * std::fabs(std::erf(z)); },
     .onnx = "Erf",
     .fused = false,
     .alone = true,
     .opencl = "erf(z)"},
    {.act = static_cast<Act>(26),
     .name = "floor",
     .value = [](double z, double, double) { return std::floor(z); },
     .slope = flat,
     .error = exact,
     .onnx = "Floor",
     .fused = false,
     .alone = true,
     .opencl = "floor(z)"},
    {.act = static_cast<Act>(27),
     .name = "ceil",
     .value = [](double z, double, double) { return std::ceil(z); },
     .slope = flat,
     .error = exact,
     .onnx = "Ceil",
     .fused = false,
     .alone = true,
     .opencl = "ceil(z)"},
    {.act = static_cast<Act>(28),
     .name = "round",
     .value = [](double z, double, double) { return std::nearbyint(z); },
     .slope = flat,
     .error = exact,
     .onnx = "Round",
     .fused = false,
     .alone = true,
     .opencl = "rint(z)"},
};

std::string cases() {
  std::string text;
  for (const ActRow& row : kRows) {
    if (row.opencl.empty()) continue;
    const std::string line =
        fmt::format("  if (act == {}) return {};\n", static_cast<int64_t>(row.act), row.opencl);
    text += row.alone ? "#ifdef ACT_ALL\n" + line + "#endif\n" : line;
  }
  return text;
}

}  // namespace

std::span<const ActRow> act_rows() { return kRows; }

const ActRow& act_row(Act act) {
  const auto index = static_cast<size_t>(act);
  return index < std::size(kRows) ? kRows[index] : kRows[0];
}

const ActRow* act_of_onnx(std::string_view op) {
  const auto* found = std::find_if(std::begin(kRows), std::end(kRows), [&](const ActRow& row) {
    return !row.onnx.empty() && row.onnx == op;
  });
  return found == std::end(kRows) ? nullptr : found;
}

std::string with_activations(std::string prelude) {
  constexpr std::string_view kMark = "  // ACTIVATIONS\n";
  const size_t at = prelude.find(kMark);
  if (at != std::string::npos) prelude.replace(at, kMark.size(), cases());
  return prelude;
}

double apply_act(Act act, double lo, double hi, double z) { return act_row(act).value(z, lo, hi); }

double act_slope(Act act, double lo, double hi, double z) { return act_row(act).slope(z, lo, hi); }

}  // namespace clvet
