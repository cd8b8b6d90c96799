#include "runtime/graph/output_sign.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>

#include "base/half.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// So many values at the end of a format's range are no chance.
constexpr double kSaturatedPart = 0.05;
// Fewer rows may well be sure of the same.
constexpr size_t kLeastRows = 4;
// Half has 2^-11 between its values below 1; as many as 32 of them may have been rounded in a sum.
constexpr double kAllMass = 1 - 0x1p-10, kSumTolerance = 0x1p-6;

// The least and the greatest; NaN where a value is not finite. Lanes that do not wait for each
// other: each answer of a device passes through here.
std::pair<float, float> range_of(std::span<const float> values) {
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> low{}, high{}, faults{};
  low.fill(values[0]);
  high = low;
  const auto take = [&](size_t lane, float value) {
    low[lane] = value < low[lane] ? value : low[lane];
    high[lane] = value > high[lane] ? value : high[lane];
    faults[lane] += value * 0;  // NaN of NaN and infinities
  };
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) take(lane, values[i + lane]);
  }
  for (; i < values.size(); ++i) take(0, values[i]);
  const float fault = std::accumulate(faults.begin(), faults.end(), 0.F);
  return {*std::min_element(low.begin(), low.end()) + fault,
          *std::max_element(high.begin(), high.end()) + fault};
}

bool is_saturated(std::span<const float> values) {
  const auto ends =
      std::ranges::count_if(values, [](float value) { return std::fabs(value) == kLargestHalf; });
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

}  // namespace

const char* to_string(OutputSign sign) {
  constexpr std::array<const char*, kOutputSignCount> kWords = {
      "none", "not-finite", "zero", "constant", "saturated", "collapsed"};
  return kWords[static_cast<size_t>(sign)];
}

OutputSign sign_of(const Tensor& output) {
  if (output.dtype() > DType::kF16) return OutputSign::kNone;  // floating-point types come first
  const int64_t row = output.shape().empty() ? 0 : output.shape().back();
  if (output.dtype() == DType::kF32) return sign_of(output.values<float>(), row);
  const auto copy = output.cast(DType::kF32);
  return copy ? sign_of(copy->values<float>(), row) : OutputSign::kNone;
}

OutputSign sign_of(std::span<const float> values, int64_t row) {
  if (values.empty()) return OutputSign::kNone;
  const auto [low, high] = range_of(values);
  if (std::isnan(low)) return OutputSign::kNotFinite;
  if (values.size() > 1 && low == high) return low == 0 ? OutputSign::kZero : OutputSign::kConstant;
  if (std::max(high, -low) >= kLargestHalf && is_saturated(values)) return OutputSign::kSaturated;
  const bool probabilities = low >= 0 && high <= 1 + static_cast<float>(kSumTolerance);
  return probabilities && is_collapsed(values, static_cast<size_t>(row)) ? OutputSign::kCollapsed
                                                                         : OutputSign::kNone;
}

}  // namespace clvet
