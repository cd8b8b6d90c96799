// Markup that cannot be broken by what it shows: only text of this program's own source becomes
// markup, everything else is escaped.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>

namespace clvet {

// Text that stands in the source as a literal. No other text converts to it.
class Markup {
 public:
  template <size_t N>
  consteval Markup(const char (&literal)[N]) : text_(literal, N - 1) {}
  constexpr std::string_view text() const { return text_; }

 private:
  std::string_view text_;
};

struct HtmlAttribute {
  Markup name;
  std::string value;
};

// Anybody's text as a page shows it: invalid UTF-8, control characters and marks that turn the
// direction of writing become U+FFFD.
std::string shown_text(std::string_view anything);

// A piece of a page. Each call appends and gives the piece back.
class Html {
 public:
  Html& markup(Markup literal);
  // shown_text; < > & " ' become entities.
  Html& text(std::string_view anything);
  Html& open(Markup tag, std::initializer_list<HtmlAttribute> attributes = {});
  Html& close(Markup tag);
  // <tag attributes>anything</tag>
  Html& element(Markup tag, std::string_view anything,
                std::initializer_list<HtmlAttribute> attributes = {});
  // A JSON document that scripts of the page read from the element with this id. Its strings may
  // hold anything: < > & are written as JSON's own escapes, so that none ends the element.
  Html& data(Markup id, std::string_view json);
  Html& add(const Html& piece);

  const std::string& str() const { return out_; }
  size_t size() const { return out_.size(); }
  bool empty() const { return out_.empty(); }

 private:
  std::string out_;
};

}  // namespace clvet
