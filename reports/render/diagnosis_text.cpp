#include "reports/render/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/language.h"
#include "reports/render/diagnosis_words.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {
namespace {

std::string input_line(const DiagnosedInput& input) {
  std::string text = fmt::format("  {:<28} {}", input.name, verdict_word(input.right));
  for (const DiagnosedOutput& output : input.outputs)
    text += fmt::format("  {} {}", output.name, error_words(output));
  return text + "\n";
}

std::string raised_lines(const PrecisionPlan& plan) {
  constexpr size_t kShown = 12;
  std::string text;
  for (size_t i = 0; i < std::min(kShown, plan.raised.size()); ++i)
    text += "  " + plan.raised[i] + "\n";
  if (plan.raised.size() > kShown)
    text += "  " + tr("and {} more: --json lists them", plan.raised.size() - kShown) + "\n";
  return text;
}

}  // namespace

std::string diagnosis_text(const PrecisionDiagnosis& diagnosis) {
  std::string text;
  for (const DiagnosedInput& input : diagnosis.inputs) text += input_line(input);
  for (const ErrorOrigin& origin : diagnosis.origins)
    text += fmt::format("{}\n", fmt::join(origin_words(diagnosis, origin), "\n  "));
  for (const std::string& line : no_origin_words(diagnosis)) text += line + "\n";
  if (!diagnosis.plan) return text;
  return text + cure_words(diagnosis) + "\n" + raised_lines(*diagnosis.plan);
}

}  // namespace clvet
