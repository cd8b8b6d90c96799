// Tables with a caption and headings that say what they head.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/render/html/builder.h"

namespace clvet {

// Opens a box that scrolls sideways where its table is wider than the page; close_table closes it.
void open_wide(Html& page, const std::string& label);

// Opens a table that scrolls sideways where it is wider than the page, up to its first body row.
void open_table(Html& page, const std::string& caption, const std::vector<std::string>& columns);
void close_table(Html& page);

// Opens a fold; close_fold closes it.
void open_fold(Html& page, const std::string& summary, bool open = false);
void close_fold(Html& page);

// Text in which each https:// address is a link; what could end one is text.
void add_linked(Html& page, const std::string& text);

// Name and value, a row each.
void add_facts(Html& page, const std::string& caption,
               const std::vector<std::pair<std::string, std::string>>& rows);

}  // namespace clvet
