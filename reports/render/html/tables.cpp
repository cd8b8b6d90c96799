#include "reports/render/html/tables.h"

#include <cstddef>
#include <initializer_list>
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

void open_table(Html& page, const std::string& caption, std::initializer_list<Markup> columns) {
  open_wide(page, caption);
  page.open("table").element("caption", caption).markup("<thead><tr>");
  for (const Markup& column : columns) {
    page.open("th", {{"scope", "col"}}).markup(column).close("th");
  }
  page.markup("</tr></thead><tbody>\n");
}

void close_table(Html& page) { page.markup("</tbody></table></div>\n"); }

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
