#include "reports/render/diagnosis_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/language.h"
#include "runtime/graph/output_sign.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/float_fault.h"
#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

// Beyond these, digits say nothing more.
constexpr double kMostPercent = 1e6, kLeastPercent = 1e-4;

}  // namespace

std::string percent(double part) {
  if (!std::isfinite(part)) return tr("not finite");
  const double value = 100 * part;
  if (value > kMostPercent) return fmt::format("> {:.0f} %", kMostPercent);
  if (value > 0 && value < kLeastPercent) return fmt::format("< {:g} %", kLeastPercent);
  return value >= 10 ? fmt::format("{:.0f} %", value) : fmt::format("{:.2g} %", value);
}

std::string sign_words(OutputSign sign) {
  switch (sign) {
    case OutputSign::kNotFinite:
      return tr("not finite");
    case OutputSign::kZero:
      return tr("all zero");
    case OutputSign::kConstant:
      return tr("all values equal");
    case OutputSign::kSaturated:
      return tr("many values at the limit of half");
    case OutputSign::kCollapsed:
      return tr("all rows sure of the same place");
    case OutputSign::kNone:
      break;
  }
  return {};
}

std::string verdict_word(const DiagnosedInput& input) {
  if (!input.in_float32) return tr("WRONG in float32, too");
  return input.right ? tr("right") : tr("WRONG");
}

std::string error_words(const DiagnosedOutput& output) {
  const double part = output.deviation.part();
  std::string text = tr("error {}", percent(part));
  const bool said = output.sign == OutputSign::kNotFinite && !std::isfinite(part);
  if (!said && output.sign != OutputSign::kNone) text += ": " + sign_words(output.sign);
  if (const auto& choices = output.choices)
    text += "; " + tr("the same token at {} of {} positions", choices->right, choices->of);
  return text;
}

std::string blame_words(NumberFormat format, const Blame& blame, double part) {
  const FormatLimits limits = limits_of(format);
  const char* name = to_string(format);
  switch (blame.fault) {
    case PrecisionFault::kOverflow:
      return tr("'{}' reaches {:.4g}, but {} holds {:g} at most", blame.value, blame.largest, name,
                limits.greatest);
    case PrecisionFault::kUnderflow:
      return tr("'{}' has values down to {:.2g}, too small for {}", blame.value, blame.smallest,
                name);
    case PrecisionFault::kInteger:
      return tr("'{}' has whole numbers up to {:.10g}; {} cannot tell those above {:g} apart",
                blame.value, blame.largest, name, std::ldexp(1, limits.bits));
    case PrecisionFault::kCancellation:
      return tr("it subtracts values that are much larger than the difference: '{}' reaches {:.4g}",
                blame.value, blame.largest);
    case PrecisionFault::kRange:
      return tr("rounding '{}', which reaches {:.4g}, to {} changes its result by {}", blame.value,
                blame.largest, name, percent(part));
    case PrecisionFault::kArithmetic:
      break;
  }
  return tr("its result is off by {} though its inputs are right", percent(part));
}

std::vector<std::string> origin_words(const PrecisionDiagnosis& diagnosis,
                                      const ErrorOrigin& origin) {
  std::vector<std::string> words{origin.node < 0 ? tr("origin: the input '{}'", origin.name)
                                                 : tr("origin: {} '{}'", origin.op, origin.name),
                                 blame_words(diagnosis.format, origin.blame, origin.part)};
  if (!origin.made_by.empty()) words.push_back(tr("made by '{}'", origin.made_by));
  if (origin.inputs.size() < diagnosis.inputs.size())
    words.push_back(tr("with {} of {} inputs", origin.inputs.size(), diagnosis.inputs.size()));
  return words;
}

std::vector<std::string> float_fault_words(const PrecisionDiagnosis& diagnosis) {
  if (!diagnosis.float_fault) return {};
  const FloatFault& fault = *diagnosis.float_fault;
  std::vector<std::string> words;
  if (fault.in_float64)
    words.push_back(
        tr("the model is wrong at any precision: {} '{}' gives NaN or infinite values "
           "of finite ones, in float64, too",
           fault.op, fault.name));
  else if (fault.lost)
    words.push_back(
        tr("float32 does not hold it either: {} '{}' gives NaN or infinite values, in "
           "float64 it does not",
           fault.op, fault.name));
  else
    words.push_back(
        tr("float32 does not hold it either: from {} '{}' on values are wrong, and the "
           "outputs are off by {} from float64",
           fault.op, fault.name, percent(fault.part)));
  if (fault.inputs.size() < diagnosis.inputs.size())
    words.push_back(tr("with {} of {} inputs", fault.inputs.size(), diagnosis.inputs.size()));
  return words;
}

std::vector<std::string> no_origin_words(const PrecisionDiagnosis& diagnosis) {
  if (diagnosis.plan) {
    if (!diagnosis.origins.empty()) return {};
    return {tr("no single node is the cause: the errors of many add up")};
  }
  if (diagnosis.float_fault || diagnosis.stopped) return {};
  std::vector<std::string> words{
      tr("{} is precise enough for this model: the outputs of all inputs are within {}",
         to_string(diagnosis.format), percent(diagnosis.target))};
  const auto odd = std::count_if(diagnosis.nodes.begin(), diagnosis.nodes.end(),
                                 [](const DiagnosedNode& node) { return node.blame.has_value(); });
  if (odd > 0)
    words.push_back(tr("nodes that lose precision without an effect on the outputs: {}", odd));
  return words;
}

std::string cure_words(const PrecisionDiagnosis& diagnosis) {
  const PrecisionPlan& plan = *diagnosis.plan;
  const auto right = std::count_if(plan.after.begin(), plan.after.end(),
                                   [](const DiagnosedInput& input) { return input.right; });
  return tr("cure: keep {} of {} nodes in float32; then {} of {} inputs are right",
            plan.raised.size(), diagnosis.nodes.size(), right, plan.after.size());
}

std::string rescale_words(const PrecisionPlan& plan) {
  if (!plan.rescale) return {};
  const ExactRescale& rescale = *plan.rescale;
  if (!rescale.available)
    return tr("'{}' cannot be made smaller instead: the model has no norms before its additions",
              rescale.value);
  if (!rescale.right) return {};
  return tr("or make '{}' smaller by {:g}, which is exact: then all inputs are right",
            rescale.value, 1 / rescale.factor);
}

std::vector<std::string> failing_words(const FailingFiles& files) {
  return {tr("the failing part (nodes: {}): {}", files.nodes, files.model),
          tr("run it with: {}", files.command)};
}

}  // namespace clvet
