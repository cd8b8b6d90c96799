// A small C preprocessor for OpenCL C: what the driver's compiler would see once macros,
// conditionals and comments are gone. Not a validator: what it cannot read it passes through.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace fake_cl {

struct Token {
  enum class Kind { kName, kNumber, kString, kPunct };
  Kind kind = Kind::kPunct;
  std::string text;
  bool space_before = false;
  std::vector<std::string> hidden;  // macros this token must not expand again
  bool is(std::string_view other) const { return text == other; }
  bool name() const { return kind == Kind::kName; }
};
using Tokens = std::vector<Token>;

// Splits one logical line or a whole text without comments.
Tokens tokenize(std::string_view text);
// Joins spliced lines and replaces comments by blanks; line ends stay.
std::string strip_comments(std::string_view text);
// Applies directives and macros; `options` are build options (-D, -U, -cl-std=,
// -cl-fast-relaxed-math) and `extensions` the device's list, which defines a macro for each name in
// it.
Tokens preprocess(std::string_view source, std::string_view options, std::string_view extensions);
// The tokens as text, one blank between neighbours, a line end after ';', '{' and '}'.
std::string join(const Tokens& tokens);
// Splits build options at blanks, honouring double quotes.
std::vector<std::string> split_options(std::string_view options);

}  // namespace fake_cl
