#include "runtime/graph/output_sign.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>

#include "base/half.h"
#include "runtime/graph/tensor.h"
#include "runtime/graph/value_range.h"

namespace clvet {
namespace {

// So many values at the end of a format's range are no chance.
constexpr double kSaturatedPart = 0.05;
// Fewer rows may well be sure of the same.
constexpr size_t kLeastRows = 4;
// Half has 2^-11 between its values below 1; as many as 32 of them may have been rounded in a sum.
constexpr double kAllMass = 1 - 0x1p-10, kSumTolerance = 0x1p-6;

// What the largest half is in a tensor of bfloat16.
constexpr float kAsBfloat = 65536;

bool is_saturated(std::span<const float> values, float end) {
  const auto ends =
      std::ranges::count_if(values, [&](float value) { return std::fabs(value) == end; });
  return static_cast<double>(ends) > kSaturatedPart * static_cast<double>(values.size());
}

// Of values from 0 to 1.
bool is_collapsed(std::span<const float> values, size_t row) {
  if (row < 2 || values.size() < kLeastRows * row) return false;
  const auto first = values.first(row);
  const auto place = static_cast<size_t>(std::ranges::max_element(first) - first.begin());
  for (size_t at = 0; at < values.size(); at += row) {
    if (!(static_cast<double>(values[at + place]) >= kAllMass)) return false;
    const auto of_row = values.subspan(at, row);
    const double sum = std::accumulate(of_row.begin(), of_row.end(), 0.0);
    if (!(std::abs(sum - 1) <= kSumTolerance)) return false;
  }
  return true;
}

// `end`: the largest half, or what it is in a tensor of bfloat16.
OutputSign sign_within(std::span<const float> values, int64_t row, float end) {
  if (values.empty()) return OutputSign::kNone;
  const auto [low, high, has_nan, place] = range_of(values);
  if (has_nan || std::isinf(low) || std::isinf(high)) return OutputSign::kNotFinite;
  if (values.size() > 1 && low == high) return low == 0 ? OutputSign::kZero : OutputSign::kConstant;
  if (std::max(high, -low) >= end && is_saturated(values, end)) return OutputSign::kSaturated;
  const bool probabilities = low >= 0 && high <= 1 + static_cast<float>(kSumTolerance);
  return probabilities && is_collapsed(values, static_cast<size_t>(row)) ? OutputSign::kCollapsed
                                                                         : OutputSign::kNone;
}

}  // namespace

const char* to_string(OutputSign sign) {
  constexpr std::array<const char*, kOutputSignCount> kWords = {
      "none", "not-finite", "zero", "constant", "saturated", "collapsed"};
  return kWords[static_cast<size_t>(sign)];
}

OutputSign sign_of(const Tensor& output) {
  if (!is_float(output.dtype())) return OutputSign::kNone;
  const int64_t row = output.shape().empty() ? 0 : output.shape().back();
  if (output.dtype() == DType::kF32) return sign_of(output.values<float>(), row);
  const auto copy = output.cast(DType::kF32);
  const float end = output.dtype() == DType::kBF16 ? kAsBfloat : kLargestHalf;
  return copy ? sign_within(copy->values<float>(), row, end) : OutputSign::kNone;
}

OutputSign sign_of(std::span<const float> values, int64_t row) {
  return sign_within(values, row, kLargestHalf);
}

}  // namespace clvet
