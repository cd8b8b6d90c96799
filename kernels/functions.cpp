#include "kernels/functions.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>

namespace clvet {
namespace {

double flat(double) { return 0; }

const FunctionRow kRows[] = {
    {"Sin", [](double z) { return std::sin(z); }, [](double z) { return std::fabs(std::cos(z)); },
     4},
    {"Cos", [](double z) { return std::cos(z); }, [](double z) { return std::fabs(std::sin(z)); },
     4},
    {"Tan", [](double z) { return std::tan(z); },
     [](double z) { return 1 + std::tan(z) * std::tan(z); }, 5},
    {"Asin", [](double z) { return std::asin(z); },
     [](double z) { return 1 / std::sqrt(1 - z * z); }, 4},
    {"Acos", [](double z) { return std::acos(z); },
     [](double z) { return 1 / std::sqrt(1 - z * z); }, 4},
    {"Atan", [](double z) { return std::atan(z); }, [](double z) { return 1 / (1 + z * z); }, 5},
    {"Sinh", [](double z) { return std::sinh(z); }, [](double z) { return std::cosh(z); }, 4},
    {"Cosh", [](double z) { return std::cosh(z); },
     [](double z) { return std::fabs(std::sinh(z)); }, 4},
    {"Asinh", [](double z) { return std::asinh(z); },
     [](double z) { return 1 / std::sqrt(1 + z * z); }, 4},
    {"Acosh", [](double z) { return std::acosh(z); },
     [](double z) { return 1 / std::sqrt(z * z - 1); }, 4},
    {"Atanh", [](double z) { return std::atanh(z); }, [](double z) { return 1 / (1 - z * z); }, 5},
    {"Erf", [](double z) { return std::erf(z); },
     [](double z) { return 2 * std::numbers::inv_sqrtpi * std::exp(-z * z); }, 16},
    {"Log", [](double z) { return std::log(z); }, [](double z) { return 1 / z; }, 3},
    {"Floor", [](double z) { return std::floor(z); }, flat, 0},
    {"Ceil", [](double z) { return std::ceil(z); }, flat, 0},
    {"Round", [](double z) { return std::nearbyint(z); }, flat, 0},
};

}  // namespace

std::span<const FunctionRow> function_rows() { return kRows; }

std::optional<int64_t> function_of_onnx(std::string_view op) {
  const auto* found = std::ranges::find(kRows, op, &FunctionRow::onnx);
  if (found == std::end(kRows)) return std::nullopt;
  return found - std::begin(kRows);
}

}  // namespace clvet
