#include "reports/render/html/tables.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "reports/render/html/builder.h"

namespace clvet {
namespace {

constexpr size_t kLongestValue = 2000;
constexpr std::string_view kAddressStart = "https://";

// Bytes of the address that `text` begins with. Punctuation behind it belongs to the sentence.
size_t address_length(std::string_view text) {
  constexpr std::string_view kInside =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~:/?#@!$&+,;=%";
  constexpr std::string_view kBehind = ".,;:!?";
  size_t end = std::min(text.find_first_not_of(kInside), text.size());
  while (end > 0 && kBehind.find(text[end - 1]) != std::string_view::npos) --end;
  return end;
}

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

void add_linked(Html& page, const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const size_t start = rest.find(kAddressStart);
    page.text(rest.substr(0, start));
    if (start == std::string_view::npos) return;
    rest.remove_prefix(start);
    const std::string_view address = rest.substr(0, address_length(rest));
    if (address.size() > kAddressStart.size())
      page.element("a", address, {{"href", std::string(address)}, {"rel", "noreferrer"}});
    else
      page.text(address);
    rest.remove_prefix(address.size());
  }
}

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
