#include "kernels/item_function.h"

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clvet {
namespace {

constexpr std::string_view kMark = "ALONE __kernel void ";

struct Parameters {
  std::vector<std::string_view> list;
  size_t end;  // of the last one: the place of the closing bracket
};

// Of the list whose bracket opens at `open`.
Parameters parameters_at(std::string_view text, size_t open) {
  Parameters found;
  int depth = 0;
  size_t from = open + 1;
  for (found.end = open; found.end < text.size(); ++found.end) {
    const char c = text[found.end];
    depth += (c == '(') - (c == ')');
    const bool closed = depth == 0;
    if (!closed && (c != ',' || depth > 1)) continue;
    found.list.push_back(text.substr(from, found.end - from));
    from = found.end + 1;
    if (closed) break;
  }
  return found;
}

bool of_word(char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)); }

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : text) {
    if (of_word(c) && !inside) words.emplace_back();
    inside = of_word(c);
    if (inside) words.back() += c;
  }
  return words;
}

bool of_capitals(std::string_view word) {
  for (const char c : word) {
    if (std::islower(static_cast<unsigned char>(c))) return false;
  }
  return true;
}

// "int M" is M, "BUFFER_IN(x)" is x, "W_ARGS" is W_ARGS_NAMES, "R_IN ACT_OUT(y)" is R_IN_NAMES y.
std::string name_of(std::string_view parameter) {
  const std::vector<std::string> words = words_of(parameter);
  if (words.empty()) return {};
  const size_t macro = parameter.find('(');
  const bool alone = words.size() == 1;
  const bool before = macro != std::string_view::npos && words.size() > 2;
  if (!of_capitals(words.front()) || !(alone || before)) return words.back();
  return words.front() + "_NAMES" + (alone ? "" : " " + words.back());
}

}  // namespace

std::string with_item_function(std::string text) {
  const size_t mark = text.find(kMark);
  if (mark == std::string::npos) return text;
  const size_t open = text.find('(', mark);
  const Parameters found = parameters_at(text, open);
  std::string names;
  for (const std::string_view parameter : found.list) names += ", " + name_of(parameter);
  const std::string name = text.substr(mark + kMark.size(), open - mark - kMark.size());
  const std::string parameters = text.substr(open + 1, found.end - open - 1);
  text.replace(mark, open + 1 - mark, fmt::format("ITEM_KERNEL({})(ITEM_PLACE ", name));
  return fmt::format(
      "#if ITEM_APART\n"
      "#define get_global_id(axis) item##axis\n"
      "#define get_global_size(axis) items##axis\n"
      "#endif\n"
      "{}\n"
      "#if ITEM_APART\n"
      "#undef get_global_id\n"
      "#undef get_global_size\n"
      "__kernel void {}({}) {{\n"
      "  {}_item(get_global_id(0), get_global_id(1), get_global_id(2), get_global_size(0){});\n"
      "}}\n"
      "#endif\n",
      text, name, parameters, name, names);
}

}  // namespace clvet
