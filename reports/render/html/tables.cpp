#include "reports/render/html/tables.h"

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reports/render/html/builder.h"

namespace clvet {
namespace {

constexpr size_t kLongestValue = 2000;

}  // namespace

void open_wide(Html& page, const std::string& label) {
  page.open("div",
            {{"class", "wide"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", label}});
}

void open_table(Html& page, const std::string& caption, const std::vector<std::string>& columns) {
  open_wide(page, caption);
  page.open("table").element("caption", caption).markup("<thead><tr>");
  for (const std::string& column : columns) page.element("th", column, {{"scope", "col"}});
  page.markup("</tr></thead><tbody>\n");
}

void close_table(Html& page) { page.markup("</tbody></table></div>\n"); }

void open_fold(Html& page, const std::string& summary, bool open) {
  page.markup(open ? Markup("<details open>") : Markup("<details>"));
  page.element("summary", summary).markup("\n");
}

void close_fold(Html& page) { page.markup("</details>\n"); }

void add_facts(Html& page, const std::string& caption,
               const std::vector<std::pair<std::string, std::string>>& rows) {
  open_wide(page, caption);
  page.open("table", {{"class", "facts"}}).element("caption", caption).open("tbody");
  for (const auto& [name, value] : rows) {
    if (value.empty()) continue;
    page.open("tr").element("th", name, {{"scope", "row"}});
    page.element("td", shorten(value, kLongestValue)).markup("</tr>\n");
  }
  close_table(page);
}

}  // namespace clvet
