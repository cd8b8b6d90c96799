#include "reports/render/diagnosis_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/language.h"
#include "reports/render/diagnosis_advice.h"
#include "reports/render/diagnosis_device_words.h"
#include "reports/render/diagnosis_inputs.h"
#include "reports/render/diagnosis_words.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {
namespace {

std::string input_line(const DiagnosedInput& input) {
  std::string text = fmt::format("  {:<28} {}", input.name, verdict_word(input));
  for (const DiagnosedOutput& output : input.outputs) {
    text += fmt::format("  {} {}", output.name, error_words(output));
    for (const auto& [name, range] : input.ranges) {
      if (output.choices) text += "; " + tr("'{}' up to {:.5g}", name, range.largest);
    }
  }
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

std::string cure_text(const PrecisionDiagnosis& diagnosis) {
  std::string text = cure_words(diagnosis) + "\n" + raised_lines(*diagnosis.plan);
  const std::string rescale = rescale_words(*diagnosis.plan);
  if (!rescale.empty()) text += rescale + "\n";
  if (diagnosis.failing)
    text += fmt::format("{}\n", fmt::join(failing_words(*diagnosis.failing), "\n  "));
  return text;
}

}  // namespace

std::string diagnosis_text(const PrecisionDiagnosis& diagnosis) {
  std::string text;
  for (const DiagnosedInput& input : diagnosis.inputs) text += input_line(input);
  if (const auto words = float_fault_words(diagnosis); !words.empty())
    text += fmt::format("{}\n", fmt::join(words, "\n  "));
  constexpr size_t kShown = 8;
  const size_t origins = diagnosis.origins.size();
  for (size_t i = 0; i < std::min(kShown, origins); ++i) {
    const auto words = origin_words(diagnosis, diagnosis.origins[i]);
    text += fmt::format("{}\n", fmt::join(words, "\n  "));
  }
  if (origins > kShown) text += tr("and {} more: --json lists them", origins - kShown) + "\n";
  const std::string stopped = stopped_words(diagnosis);
  for (const std::string& line : no_origin_words(diagnosis)) text += line + "\n";
  for (const std::string& line : contrast_words(diagnosis)) text += line + "\n";
  for (const std::string& line : normalise_words(diagnosis)) text += line + "\n";
  if (diagnosis.plan) text += cure_text(diagnosis);
  for (const std::string& line : device_words(diagnosis)) text += line + "\n";
  if (diagnosis.plan) text += advice_text(*diagnosis.plan);
  return stopped.empty() ? text : text + stopped + "\n";
}

}  // namespace clvet
