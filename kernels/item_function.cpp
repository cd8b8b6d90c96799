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

size_t close_of(std::string_view text, size_t open) {
  int depth = 0;
  for (size_t i = open; i < text.size(); ++i) {
    depth += (text[i] == '(') - (text[i] == ')');
    if (depth == 0) return i;
  }
  return text.size();
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

std::string names_of(std::string_view parameters) {
  std::string names;
  size_t from = 0;
  int depth = 0;
  for (size_t i = 0; i <= parameters.size(); ++i) {
    const char c = i < parameters.size() ? parameters[i] : ',';
    depth += (c == '(') - (c == ')');
    if (c != ',' || depth != 0) continue;
    names += ", " + name_of(parameters.substr(from, i - from));
    from = i + 1;
  }
  return names;
}

}  // namespace

std::string with_item_function(std::string text) {
  const size_t mark = text.find(kMark);
  if (mark == std::string::npos) return text;
  const size_t open = text.find('(', mark), close = close_of(text, open);
  const std::string name = text.substr(mark + kMark.size(), open - mark - kMark.size());
  const std::string parameters = text.substr(open + 1, close - open - 1);
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
      text, name, parameters, name, names_of(parameters));
}

}  // namespace clvet
