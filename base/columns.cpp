#include "base/columns.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <string_view>

#include "base/text.h"

namespace clvet {
namespace {

struct Range {
  char32_t first, last;
};

// Unicode's East Asian Width: W and F.
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x2E80, 0x303E},   {0x3041, 0x33FF},   {0x3400, 0x4DBF},
    {0x4E00, 0x9FFF},   {0xA000, 0xA4CF},   {0xA960, 0xA97C},   {0xAC00, 0xD7A3},
    {0xF900, 0xFAFF},   {0xFE30, 0xFE6F},   {0xFF01, 0xFF60},   {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FF}, {0x1F900, 0x1FAFF}, {0x20000, 0x3FFFD}};

// Marks that combine, and what is not seen.
constexpr Range kNoWidth[] = {{0x0300, 0x036F}, {0x1AB0, 0x1AFF}, {0x1DC0, 0x1DFF},
                              {0x200B, 0x200F}, {0x20D0, 0x20FF}, {0xFE00, 0xFE0F},
                              {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}};

char32_t decode(std::string_view glyph) {
  constexpr unsigned char kFirst[] = {0, 0x7F, 0x1F, 0x0F, 0x07};
  char32_t code = static_cast<unsigned char>(glyph[0]) & kFirst[glyph.size()];
  for (const char byte : glyph.substr(1))
    code = code << 6 | (static_cast<unsigned char>(byte) & 0x3F);
  return code;
}

size_t columns_of_glyph(std::string_view glyph) {
  const char32_t code = decode(glyph);
  const auto holds = [code](const Range& range) {
    return range.first <= code && code <= range.last;
  };
  if (std::any_of(std::begin(kNoWidth), std::end(kNoWidth), holds)) return 0;
  return std::any_of(std::begin(kWide), std::end(kWide), holds) ? 2 : 1;
}

std::string_view first_glyph(std::string_view text) {
  return text.substr(0, std::max<size_t>(utf8_length(text), 1));
}

// Bytes of the longest start of `text` that is at most `columns` wide.
size_t bytes_that_fit(std::string_view text, size_t columns) {
  size_t end = 0;
  for (size_t used = 0; end < text.size();) {
    const std::string_view glyph = first_glyph(text.substr(end));
    used += columns_of_glyph(glyph);
    if (used > columns) break;
    end += glyph.size();
  }
  return end;
}

}  // namespace

size_t columns_of(std::string_view text) {
  size_t columns = 0;
  while (!text.empty()) {
    const std::string_view glyph = first_glyph(text);
    columns += columns_of_glyph(glyph);
    text.remove_prefix(glyph.size());
  }
  return columns;
}

std::string fit_columns(std::string_view text, size_t columns) {
  if (bytes_that_fit(text, columns) == text.size()) return std::string(text);
  const std::string_view cut = std::string_view("...").substr(0, columns);
  const size_t room = columns - cut.size();
  return std::string(text.substr(0, bytes_that_fit(text, room))).append(cut);
}

}  // namespace clvet
