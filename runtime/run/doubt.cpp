#include "runtime/run/doubt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/exec/step_answer.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

constexpr double kLargestHalf = 65504;
// A tensor in which nothing is larger is compared with this.
constexpr double kLeastScale = 1e-30;

Precision precision_of(const StepAnswer& answer) {
  if (answer.row) return answer.row->variant.precision;
  return answer.half ? Precision::kNormal : Precision::kHigh;
}

// Between neighbours that may be larger than the result, at places whose own rounding counts.
constexpr double kInterpolation = 8;
bool interpolates(const StepAnswer& answer) {
  return answer.row && answer.row->variant.manifest->op == "resize";
}

std::string evidence_of(const AnswerDifference& difference) {
  if (difference.not_finite) return "it gave values that are not finite";
  return fmt::format(
      "its result differs from the host's by {:.3g} where the largest value is {:.3g}",
      difference.most, difference.scale);
}

// Of float32, the least and the greatest; NaN where a value is not finite. Lanes that do not wait
// for each other: each answer passes through here.
std::pair<float, float> range_of(std::span<const float> values) {
  constexpr size_t kLanes = 16;
  std::array<float, kLanes> low{}, high{}, faults{};
  low.fill(values.empty() ? 0 : values[0]);
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

bool same_bytes(const Tensor& a, const Tensor& b) {
  return a.type() == b.type() && std::memcmp(a.raw(), b.raw(), a.bytes()) == 0;
}

}  // namespace

double rounding_part(Precision precision) {
  switch (precision) {
    case Precision::kHigh:
      return 0x1p-13;
    case Precision::kNormal:
      return 0x1p-6;
    case Precision::kLow:
      break;
  }
  return 0x1p-3;
}

AnswerDifference difference_of(const Tensor& device, const Tensor& host) {
  AnswerDifference out;
  const std::vector<double> got = device.to_f64(), want = host.to_f64();

  for (size_t i = 0; i < want.size(); ++i) {
    // Where infinity meets a weight of zero, both an infinity and what is left of it are right.
    if (!std::isfinite(want[i])) continue;
    out.scale = std::max(out.scale, std::abs(want[i]));
    if (!std::isfinite(got[i])) {
      out.not_finite = true;
    } else {
      out.most = std::max(out.most, std::abs(got[i] - want[i]));
    }
  }
  out.part = got.size() == want.size() ? out.most / std::max(out.scale, kLeastScale) : INFINITY;
  out.beyond_half = out.scale > kLargestHalf;
  return out;
}

void FaultFinder::look(const StepAnswer& answer) {
  if (fault_) return;
  const Precision precision = precision_of(answer);
  const AnswerDifference difference = difference_of(answer.device, answer.host);
  const double allowed = rounding_part(precision) * (interpolates(answer) ? kInterpolation : 1);
  worst_ = std::max(worst_, difference.part / allowed);
  if (!difference.not_finite && difference.part <= allowed) return;
  fault_ = Fault{
      .variant = answer.row ? answer.row->name : "",
      .node = answer.node,
      .evidence = evidence_of(difference),
      .range = precision != Precision::kHigh && (difference.beyond_half || difference.not_finite)};
}

std::string suspicion_of(const Outputs& outputs) {
  for (const auto& [name, tensor] : outputs) {
    if (tensor.dtype() > DType::kF16) continue;  // floating-point types come first
    const bool floats = tensor.dtype() == DType::kF32;
    const auto copy = floats ? Result<Tensor>(tensor) : tensor.cast(DType::kF32);
    if (!copy) continue;
    const auto [low, high] = range_of(copy->values<float>());
    if (std::isnan(low)) return fmt::format("output '{}' has values that are not finite", name);
    if (tensor.elements() > 1 && low == high)
      return fmt::format("all values of output '{}' are equal", name);
  }
  return {};
}

std::string suspicion_of(std::span<const float> logits) {
  if (logits.empty()) return {};
  const auto [low, high] = range_of(logits);
  if (std::isnan(low)) return "the logits are not finite";
  return low == high ? "all logits are equal" : "";
}

bool same_outputs(const Outputs& one, const Outputs& other) {
  return one.size() == other.size() && std::all_of(one.begin(), one.end(), [&](const auto& row) {
           const auto found = other.find(row.first);
           return found != other.end() && same_bytes(row.second, found->second);
         });
}

std::string disagreement(const Outputs& one, const Outputs& other, Precision precision) {
  for (const auto& [name, tensor] : one) {
    const auto found = other.find(name);
    if (found == other.end()) return fmt::format("output '{}' is missing", name);
    if (same_bytes(tensor, found->second)) continue;
    const AnswerDifference difference = difference_of(tensor, found->second);
    if (difference.not_finite || difference.part > rounding_part(precision))
      return fmt::format("output '{}' differs by {:.2g} of its largest value from run to run", name,
                         difference.part);
  }
  return {};
}

}  // namespace clvet
