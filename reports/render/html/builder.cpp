#include "reports/render/html/builder.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

#include "base/text.h"

namespace clvet {
namespace {

struct Replacement {
  std::string_view from, to;
};

constexpr std::string_view kUnknown = "\xEF\xBF\xBD";

constexpr std::array<Replacement, 16> kReplacements{{{"&", "&amp;"},
                                                     {"<", "&lt;"},
                                                     {">", "&gt;"},
                                                     {"\"", "&quot;"},
                                                     {"'", "&#39;"},
                                                     {"\xE2\x80\x8E", kUnknown},    // U+200E
                                                     {"\xE2\x80\x8F", kUnknown},    // U+200F
                                                     {"\xE2\x80\xAA", kUnknown},    // U+202A
                                                     {"\xE2\x80\xAB", kUnknown},    // U+202B
                                                     {"\xE2\x80\xAC", kUnknown},    // U+202C
                                                     {"\xE2\x80\xAD", kUnknown},    // U+202D
                                                     {"\xE2\x80\xAE", kUnknown},    // U+202E
                                                     {"\xE2\x81\xA6", kUnknown},    // U+2066
                                                     {"\xE2\x81\xA7", kUnknown},    // U+2067
                                                     {"\xE2\x81\xA8", kUnknown},    // U+2068
                                                     {"\xE2\x81\xA9", kUnknown}}};  // U+2069

std::string escaped(std::string_view anything) {
  const std::string clean = clean_utf8(anything);
  std::string out;
  out.reserve(clean.size());
  for (size_t at = 0; at < clean.size();) {
    const std::string_view rest = std::string_view(clean).substr(at);
    const auto* found =
        std::find_if(kReplacements.begin(), kReplacements.end(),
                     [&](const Replacement& row) { return rest.starts_with(row.from); });
    if (found == kReplacements.end()) {
      out += clean[at++];
    } else {
      out += found->to;
      at += found->from.size();
    }
  }
  return out;
}

}  // namespace

Html& Html::markup(Markup literal) {
  out_ += literal.text();
  return *this;
}

Html& Html::text(std::string_view anything) {
  out_ += escaped(anything);
  return *this;
}

Html& Html::open(Markup tag, std::initializer_list<HtmlAttribute> attributes) {
  out_ += '<';
  out_ += tag.text();
  for (const HtmlAttribute& row : attributes) {
    out_ += ' ';
    out_ += row.name.text();
    out_ += "=\"" + escaped(row.value) + '"';
  }
  out_ += '>';
  return *this;
}

Html& Html::close(Markup tag) {
  out_ += "</";
  out_ += tag.text();
  out_ += '>';
  return *this;
}

Html& Html::element(Markup tag, std::string_view anything,
                    std::initializer_list<HtmlAttribute> attributes) {
  return open(tag, attributes).text(anything).close(tag);
}

Html& Html::add(const Html& piece) {
  out_ += piece.out_;
  return *this;
}

}  // namespace clvet
