#include "reports/render/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "base/language.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"

namespace clvet {
namespace {

std::string percent(double part) {
  return std::isfinite(part) ? fmt::format("{:.2g} %", 100 * part) : tr("not finite");
}

std::string said(OutputSign sign) {
  switch (sign) {
    case OutputSign::kNotFinite:
      return tr("not finite");
    case OutputSign::kZero:
      return tr("all zero");
    case OutputSign::kConstant:
      return tr("all values equal");
    case OutputSign::kSaturated:
      return tr("many values at the limit of half");
    case OutputSign::kNone:
      break;
  }
  return {};
}

std::string input_line(const DiagnosedInput& input) {
  std::string text =
      fmt::format("  {:<28} {}", input.name, input.right ? tr("right") : tr("WRONG"));
  for (const DiagnosedOutput& output : input.outputs) {
    text += fmt::format("  {} {}", output.name, tr("error {}", percent(output.deviation.part())));
    if (output.sign != OutputSign::kNone) text += ": " + said(output.sign);
    if (const auto& choices = output.choices)
      text += "; " + tr("the same token at {} of {} positions", choices->right, choices->of);
    for (const auto& [name, range] : input.ranges) {
      if (output.choices) text += "; " + tr("'{}' up to {:.5g}", name, range.largest);
    }
  }
  return text + "\n";
}

std::string why(const PrecisionDiagnosis& diagnosis, const ErrorOrigin& origin) {
  const FormatLimits limits = limits_of(diagnosis.format);
  const char* format = to_string(diagnosis.format);
  const Blame& blame = origin.blame;
  switch (blame.fault) {
    case PrecisionFault::kOverflow:
      return tr("'{}' reaches {:.4g}, but {} holds {:g} at most", blame.value, blame.largest,
                format, limits.greatest);
    case PrecisionFault::kUnderflow:
      return tr("'{}' has values down to {:.2g}, too small for {}", blame.value, blame.smallest,
                format);
    case PrecisionFault::kInteger:
      return tr("'{}' has whole numbers up to {:.10g}; {} cannot tell those above {:g} apart",
                blame.value, blame.largest, format, std::ldexp(1, limits.bits));
    case PrecisionFault::kCancellation:
      return tr("it subtracts values that are much larger than the difference: '{}' reaches {:.4g}",
                blame.value, blame.largest);
    case PrecisionFault::kRange:
      return tr("rounding '{}', which reaches {:.4g}, to {} changes its result by {}", blame.value,
                blame.largest, format, percent(origin.part));
    case PrecisionFault::kArithmetic:
      break;
  }
  return tr("its result is off by {} though its inputs are right", percent(origin.part));
}

std::string origin_lines(const PrecisionDiagnosis& diagnosis, const ErrorOrigin& origin) {
  std::string text = origin.node < 0 ? tr("origin: the input '{}'", origin.name)
                                     : tr("origin: {} '{}'", origin.op, origin.name);
  text += "\n  " + why(diagnosis, origin) + "\n";
  if (!origin.made_by.empty()) text += "  " + tr("made by '{}'", origin.made_by) + "\n";
  if (origin.inputs.size() < diagnosis.inputs.size()) {
    text += "  " + tr("with {} of {} inputs", origin.inputs.size(), diagnosis.inputs.size()) + "\n";
  }
  return text;
}

std::string rescale_line(const ExactRescale& rescale) {
  if (!rescale.available) {
    return tr("'{}' cannot be made smaller instead: the model has no norms before its additions",
              rescale.value) +
           "\n";
  }
  if (!rescale.right) return {};
  return tr("or make '{}' smaller by {:g}, which is exact: then all inputs are right",
            rescale.value, 1 / rescale.factor) +
         "\n";
}

std::string plan_lines(const PrecisionDiagnosis& diagnosis) {
  const PrecisionPlan& plan = *diagnosis.plan;
  const auto right = std::count_if(plan.after.begin(), plan.after.end(),
                                   [](const DiagnosedInput& input) { return input.right; });
  std::string text = tr("cure: keep {} of {} nodes in float32; then {} of {} inputs are right",
                        plan.raised.size(), diagnosis.nodes.size(), right, plan.after.size()) +
                     "\n";
  constexpr size_t kShown = 12;
  for (size_t i = 0; i < std::min(kShown, plan.raised.size()); ++i)
    text += "  " + plan.raised[i] + "\n";
  if (plan.raised.size() > kShown)
    text += "  " + tr("and {} more: --json lists them", plan.raised.size() - kShown) + "\n";
  return plan.rescale ? text + rescale_line(*plan.rescale) : text;
}

}  // namespace

std::string diagnosis_text(const PrecisionDiagnosis& diagnosis) {
  std::string text;
  for (const DiagnosedInput& input : diagnosis.inputs) text += input_line(input);
  const auto odd = std::count_if(diagnosis.nodes.begin(), diagnosis.nodes.end(),
                                 [](const DiagnosedNode& node) { return node.blame.has_value(); });
  if (!diagnosis.plan) {
    text += tr("{} is precise enough for this model: the outputs of all inputs are within {}",
               to_string(diagnosis.format), percent(diagnosis.target)) +
            "\n";
    if (odd > 0)
      text += tr("nodes that lose precision without an effect on the outputs: {}", odd) + "\n";
    return text;
  }
  constexpr size_t kShown = 8;
  const size_t origins = diagnosis.origins.size();
  for (size_t i = 0; i < std::min(kShown, origins); ++i)
    text += origin_lines(diagnosis, diagnosis.origins[i]);
  if (origins > kShown) text += tr("and {} more: --json lists them", origins - kShown) + "\n";
  if (diagnosis.origins.empty())
    text += tr("no single node is the cause: the errors of many add up") + "\n";
  return text + plan_lines(diagnosis);
}

}  // namespace clvet
