// Regular expressions over bytes, as ECMAScript's (base/regex.h). One that takes too many steps on
// a text does not fit it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace clvet {

class Pattern {
 public:
  enum class Case { kExact, kAny };
  // Throws a std::runtime_error where the text is no regular expression.
  explicit Pattern(const std::string& text, Case letters = Case::kExact);

  bool fits(std::string_view text) const;      // all of it
  bool found_in(std::string_view text) const;  // any part of it

  // The text of the part and then that of each group, empty for one that took no part; nothing
  // where the pattern does not fit.
  std::vector<std::string> parts(std::string_view text) const;        // of all of it
  std::vector<std::string> first_parts(std::string_view text) const;  // of the first that is found

  // Each part found gives way to this, in which $1 is the first group. Throws a std::runtime_error
  // where finding them takes too many steps.
  std::string replace_in(const std::string& text, const std::string& by) const;

 private:
  struct Compiled;
  std::shared_ptr<const Compiled> compiled_;
};

}  // namespace clvet
