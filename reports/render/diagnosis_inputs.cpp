#include "reports/render/diagnosis_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/language.h"
#include "runtime/precision/contrast.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/normalise.h"

namespace clvet {
namespace {

std::string words_of(const RangeContrast& row) {
  if (row.apart())
    return tr(
        "'{}' reaches {:.5g} or more with inputs that fail, {:.5g} at most with those that "
        "pass",
        row.value, row.least_failing, row.most_passing);
  return tr(
      "'{}' does not tell inputs that fail ({:.5g} to {:.5g}) from those that pass ({:.5g} "
      "to {:.5g}) by its size",
      row.value, row.failing.least, row.failing.greatest, row.passing.least, row.passing.greatest);
}

std::string way_words(const Normalisation& way) {
  switch (way.how) {
    case NormaliseHow::kCentre:
      return tr("as (x - 127.5) / 127.5");
    case NormaliseHow::kStandardise:
      return tr("at mean 0 and variance 1");
    case NormaliseHow::kDivide:
      break;
  }
  return tr("divided by {:.10g}", way.divisor);
}

}  // namespace

std::vector<std::string> contrast_words(const PrecisionDiagnosis& diagnosis) {
  std::vector<std::string> words;
  for (const RangeContrast& row : diagnosis.contrasts) words.push_back(words_of(row));
  return words;
}

std::vector<std::string> normalise_words(const PrecisionDiagnosis& diagnosis) {
  if (!diagnosis.normalising || diagnosis.normalising->tried.empty()) return {};
  const NormaliseTrials& trials = *diagnosis.normalising;
  const std::string values = fmt::format("'{}'", fmt::join(trials.values, "', '"));
  const auto right = std::find_if(trials.tried.begin(), trials.tried.end(),
                                  [](const Normalisation& way) { return way.right; });
  if (right != trials.tried.end())
    return {
        tr("with {} {} the outputs are right: if the model was trained on such values, "
           "normalise its input",
           values, way_words(*right))};
  std::vector<std::string> ways;
  for (const Normalisation& way : trials.tried) ways.push_back(way_words(way));
  return {tr("normalising {} does not cure it; tried: {}", values,
             fmt::format("{}", fmt::join(ways, ", ")))};
}

}  // namespace clvet
