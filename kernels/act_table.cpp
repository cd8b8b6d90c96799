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
};

std::string cases() {
  std::string text;
  for (const ActRow& row : kRows) {
    if (row.opencl.empty()) continue;
    text += fmt::format("  if (act == {}) return {};\n", static_cast<int64_t>(row.act), row.opencl);
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
