#include "reports/render/html/builder.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "base/text.h"

namespace clvet {
namespace {

struct Replacement {
  std::string_view from, to;
};

constexpr std::string_view kUnknown = "\xEF\xBF\xBD";

constexpr std::array<Replacement, 11> kTurns{{{"\xE2\x80\x8E", kUnknown},    // U+200E
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

constexpr std::array<Replacement, 5> kEntities{
    {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}, {"'", "&#39;"}}};

// As JSON writes them within a string, which is the only place where JSON has them.
constexpr std::array<Replacement, 3> kInData{
    {{"&", "\\u0026"}, {"<", "\\u003c"}, {">", "\\u003e"}}};

std::string replaced(std::string_view text, std::span<const Replacement> rows) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto found = std::find_if(rows.begin(), rows.end(), [&](const Replacement& row) {
      return text.starts_with(row.from);
    });
    const bool none = found == rows.end();
    out += none ? text.substr(0, 1) : found->to;
    text.remove_prefix(none ? 1 : found->from.size());
  }
  return out;
}

std::string escaped(std::string_view anything) { return replaced(shown_text(anything), kEntities); }

}  // namespace

std::string shown_text(std::string_view anything) { return replaced(clean_utf8(anything), kTurns); }

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

Html& Html::data(Markup id, std::string_view json) {
  open("script", {{"type", "application/json"}, {"id", std::string(id.text())}});
  out_ += replaced(json, kInData);
  return close("script");
}

Html& Html::add(const Html& piece) {
  out_ += piece.out_;
  return *this;
}

}  // namespace clvet
