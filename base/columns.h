// How wide text stands on a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace clvet {

// Columns of `text`, which is one line of clean_utf8(): two of a Chinese, Japanese or Korean glyph
// and of a pictograph, none of a mark that stands on the glyph before it, one of everything else.
size_t columns_of(std::string_view text);
// `text` where it fits, else as much of its start as fits with "..." behind it.
std::string fit_columns(std::string_view text, size_t columns);

}  // namespace clvet
