#include "reports/render/html/diagnosis_contrasts.h"

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <vector>

#include "base/language.h"
#include "base/text.h"
#include "reports/render/diagnosis_inputs.h"
#include "reports/render/html/builder.h"
#include "reports/render/html/tables.h"
#include "runtime/precision/contrast.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/value_range.h"

namespace clvet {
namespace {

constexpr size_t kLongestName = 600;

std::string range_words(const ValueRange& range) {
  return fmt::format("{:.5g} … {:.5g}", range.least, range.greatest);
}

void add_ranges(Html& page, const PrecisionDiagnosis& diagnosis) {
  if (diagnosis.contrasts.empty()) return;
  open_table(page, tr("Range of the values that the model is given"),
             {tr("value"), tr("inputs that fail"), tr("inputs that pass")});
  for (const RangeContrast& row : diagnosis.contrasts) {
    page.open("tr").element("th", shorten(row.value, kLongestName), {{"scope", "row"}});
    page.element("td", range_words(row.failing)).element("td", range_words(row.passing));
    page.markup("</tr>\n");
  }
  close_table(page);
}

}  // namespace

void add_contrasts(Html& page, const PrecisionDiagnosis& diagnosis) {
  std::vector<std::string> words = contrast_words(diagnosis);
  for (const std::string& line : normalise_words(diagnosis)) words.push_back(line);
  if (words.empty()) return;
  page.open("section", {{"id", "failing-inputs"}}).element("h2", tr("Which inputs fail"));
  add_ranges(page, diagnosis);
  for (const std::string& line : words) page.element("p", line);
  page.markup("</section>\n");
}

}  // namespace clvet
