#include "reports/render/html/diagnosis_advice.h"

#include <fmt/format.h>

#include "base/language.h"
#include "reports/render/diagnosis_advice.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/tables.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/engine_advice.h"

namespace clvet {

void add_advice(Html& page, const PrecisionDiagnosis& diagnosis) {
  if (!diagnosis.plan || diagnosis.plan->advice.empty()) return;
  page.open("section", {{"id", "advice"}}).element("h2", tr("In other engines"));
  for (const EngineAdvice& advice : diagnosis.plan->advice) {
    open_fold(page, advice_title(advice));
    page.element("p", advice_words(advice));
    page.element("pre", fmt::format("{}", fmt::join(advice.settings, "\n")), {{"tabindex", "0"}});
    page.open("p", {{"class", "dim"}}).text(tr("Source:") + " ");
    page.text(fmt::format("{}", fmt::join(advice.sources, "; "))).markup("</p>\n");
    close_fold(page);
  }
  page.markup("</section>\n");
}

}  // namespace clvet
