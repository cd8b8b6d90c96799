#include "runtime/run/doubt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/half.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/step_answer.h"
#include "runtime/graph/output_sign.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// A tensor in which nothing is larger is compared with this.
constexpr double kLeastScale = 1e-30;

Precision precision_of(const StepAnswer& answer) {
  if (answer.row) return answer.row->variant.precision;
  return answer.half ? Precision::kNormal : Precision::kHigh;
}

// A value beside a tie of its own type falls on either side.
double type_part(const Tensor& value) { return step_part(value.dtype()); }

// As many steps of the model's own type as rounding_part() allows of half. 16 of bfloat16 would be
// an eighth: beyond a 32nd, the reference decides.
constexpr double kSteps = 16, kMostOfSteps = 0x1p-5;
double allowed_part(Precision precision, double step) {
  return std::max(rounding_part(precision), std::min(kSteps * step, kMostOfSteps));
}

// Beside a tie the level on either side is right. A quotient of floats lies there by chance in one
// of 10^5 elements, and by the model's own numbers in more.
constexpr size_t kTiesAmong = 64;

// Whether `answer` differs by rounding, but for elements at ties.
bool differs_at_ties(const StepAnswer& answer, double rounding) {
  if (answer.step <= 0) return false;
  const std::vector<double> got = answer.device.to_f64(), want = answer.host.to_f64();
  size_t others = 0;
  for (size_t i = 0; i < want.size(); ++i) {
    const double apart = std::abs(got[i] - want[i]);
    if (!(apart <= answer.step + rounding)) return false;
    if (apart > rounding) ++others;
  }
  return others <= 1 + want.size() / kTiesAmong;
}

std::string evidence_of(const AnswerDifference& difference) {
  if (difference.not_finite) return "it gave values that are not finite";
  return fmt::format(
      "its result differs from the host's by {:.3g} where the largest value is {:.3g}",
      difference.most, difference.scale);
}

std::string sentence_of(OutputSign sign, const std::string& output) {
  switch (sign) {
    case OutputSign::kNotFinite:
      return fmt::format("output '{}' has values that are not finite", output);
    case OutputSign::kZero:
      return fmt::format("all values of output '{}' are zero", output);
    case OutputSign::kConstant:
      return fmt::format("all values of output '{}' are equal", output);
    case OutputSign::kSaturated:
      return fmt::format("many values of output '{}' are at the limit of half", output);
    case OutputSign::kCollapsed:
      return fmt::format("all rows of output '{}' are sure of the same place", output);
    case OutputSign::kNone:
      break;
  }
  return {};
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

void blame_maps(Fault& fault) {
  fault.variant = kMapReads;
  fault.stage = Stage::kMap;
  fault.range = false;
}

void doubt_maps(Device& device, const std::function<bool()>& is_right, Fault& fault) {
  if (!device.uses_maps() || is_right()) return;
  const Device::Maps maps = device.exchange_maps({});
  if (is_right()) blame_maps(fault);
  device.exchange_maps(maps);
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
  const double allowed = allowed_part(precision, answer.step_part);
  if (!difference.not_finite &&
      (difference.part <= allowed || differs_at_ties(answer, allowed * difference.scale) ||
       (answer.right_by_reference && answer.right_by_reference())))
    return;
  fault_ = Fault{
      .variant = answer.row ? answer.row->name : "",
      .node = answer.node,
      .evidence = evidence_of(difference),
      .range = precision != Precision::kHigh && (difference.beyond_half || difference.not_finite)};
}

std::string suspicion_of(const Outputs& outputs) {
  for (const auto& [name, tensor] : outputs) {
    const OutputSign sign = sign_of(tensor);
    if (sign != OutputSign::kNone) return sentence_of(sign, name);
  }
  return {};
}

std::string refuted_suspicion(const Outputs& outputs, const Outputs& host) {
  for (const auto& [name, tensor] : outputs) {
    const OutputSign sign = sign_of(tensor);
    const auto found = host.find(name);
    if (sign == OutputSign::kNone || found == host.end() || sign_of(found->second) == sign)
      continue;
    return fmt::format("{}, and the host's answer differs", sentence_of(sign, name));
  }
  return {};
}

std::string suspicion_of(std::span<const float> logits) {
  switch (sign_of(logits)) {
    case OutputSign::kNotFinite:
      return "the logits are not finite";
    case OutputSign::kZero:
    case OutputSign::kConstant:
      return "all logits are equal";
    default:
      return {};
  }
}

bool same_outputs(const Outputs& one, const Outputs& other) {
  return one.size() == other.size() && std::all_of(one.begin(), one.end(), [&](const auto& row) {
           const auto found = other.find(row.first);
           return found != other.end() && bitwise_equal(row.second, found->second);
         });
}

std::string disagreement(const Outputs& one, const Outputs& other, Precision precision) {
  for (const auto& [name, tensor] : one) {
    const auto found = other.find(name);
    if (found == other.end()) return fmt::format("output '{}' is missing", name);
    if (bitwise_equal(tensor, found->second)) continue;
    const AnswerDifference difference = difference_of(tensor, found->second);
    if (difference.not_finite || difference.part > rounding_part(precision) + type_part(tensor))
      return fmt::format("output '{}' differs by {:.2g} of its largest value from run to run", name,
                         difference.part);
  }
  return {};
}

}  // namespace clvet
