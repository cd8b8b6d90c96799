#include "runtime/precision/answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/precision/diagnosis.h"
namespace clvet {
namespace {

// A twentieth of the values at the end of a format's range is no chance.
constexpr double kSaturatedPart = 0.05;

bool at_the_end(float value) {
  const float size = std::fabs(value);
  return size == 65504.f;
}

}  // namespace

const char* to_string(OutputSign sign) {
  constexpr std::array<const char*, kOutputSignCount> kWords = {"none", "not-finite", "zero",
                                                                "constant", "saturated"};
  return kWords[static_cast<size_t>(sign)];
}

OutputSign sign_of(const Tensor& output) {
  return output.dtype() == DType::kF32 ? sign_of(output.values<float>()) : OutputSign::kNone;
}

OutputSign sign_of(std::span<const float> values) {
  if (values.empty()) return OutputSign::kNone;
  bool alike = true;
  size_t ends = 0;
  for (const float value : values) {
    if (!std::isfinite(value)) return OutputSign::kNotFinite;
    alike = alike && value == values[0];
    ends += at_the_end(value);
  }
  if (alike && values.size() > 1) return values[0] == 0 ? OutputSign::kZero : OutputSign::kConstant;
  const bool saturated =
      static_cast<double>(ends) > kSaturatedPart * static_cast<double>(values.size());
  return saturated ? OutputSign::kSaturated : OutputSign::kNone;
}

std::vector<DiagnosedOutput> compare_outputs(const std::map<std::string, Tensor>& outputs,
                                             const std::map<std::string, Tensor>& reference) {
  std::vector<DiagnosedOutput> rows;
  for (const auto& [name, wanted] : reference) {
    const auto found = outputs.find(name);
    if (found == outputs.end() || wanted.dtype() != DType::kF32) continue;
    DiagnosedOutput row;
    row.name = name;
    row.deviation.add(found->second.values<float>(), wanted.values<float>());
    row.sign = sign_of(found->second);
    if (row.sign == sign_of(wanted)) row.sign = OutputSign::kNone;
    rows.push_back(std::move(row));
  }
  return rows;
}

bool all_right(const std::vector<DiagnosedOutput>& outputs, double target) {
  return std::all_of(outputs.begin(), outputs.end(), [&](const DiagnosedOutput& row) {
    const bool chosen = !row.choices || row.choices->right == row.choices->of;
    return chosen && row.deviation.part() <= target;
  });
}

}  // namespace clvet
