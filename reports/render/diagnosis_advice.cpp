#include "reports/render/diagnosis_advice.h"

#include <algorithm>
#include <cstddef>
#include <string>

#include "base/language.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/engine_advice.h"

namespace clvet {
namespace {

constexpr size_t kShown = 20;

std::string settings_text(const EngineAdvice& advice) {
  std::string text;
  const size_t count = advice.settings.size();
  for (size_t i = 0; i < std::min(kShown, count); ++i) text += "      " + advice.settings[i] + "\n";
  if (count > kShown)
    text += "      " + tr("and {} more: --json lists them", count - kShown) + "\n";
  return text;
}

}  // namespace

std::string advice_title(const EngineAdvice& advice) {
  return advice.single_nodes ? tr("{}: these nodes alone", advice.title)
                             : tr("{}: the whole model", advice.title);
}

const std::string& advice_words(const EngineAdvice& advice) {
  return language() == Language::kChinese ? advice.chinese : advice.text;
}

std::string advice_text(const PrecisionPlan& plan) {
  if (plan.advice.empty()) return {};
  std::string text = tr("in other engines:") + "\n";
  for (const EngineAdvice& advice : plan.advice)
    text += "  " + advice_title(advice) + "\n    " + advice_words(advice) + "\n" +
            settings_text(advice);
  return text;
}

}  // namespace clvet
