#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"
#include "tests/english.h"

namespace clvet::test {
namespace {

constexpr size_t kInARow = 3;
// Frameworks, and the drivers that Mesa's rusticl knows.
constexpr std::string_view kNames[] = {
    "mnn",    "tnn",   "mace",      "tflite", "tvm",      "acl",      "opencv",  "hashcat",
    "clpeak", "asahi", "freedreno", "iris",   "lp",       "llvmpipe", "nouveau", "panfrost",
    "swrast", "tegra", "virgl",     "zink",   "radeonsi", "softpipe"};
// Of dlopen, of a driver, of the boards' ICD files.
constexpr const char* kForeign[] = {"cannot open shared object file",
                                    "undefined symbol",
                                    "file too short",
                                    "invalid ELF header",
                                    "ERROR: The DDK",
                                    "# the driver of the GPU"};

// What the JSON library says stays as it is.
std::string without_json_fault(std::string line) {
  const std::string read = "last read: '";
  const size_t from = line.find("[json.exception.");
  if (from == std::string::npos) return line;
  const size_t last = line.find(read, from);
  const size_t end = last == std::string::npos ? last : line.find('\'', last + read.size());
  return line.replace(from, end == std::string::npos ? end : end + 1 - from, "*");
}

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// Quoted text becomes one mark. An apostrophe within a word opens nothing.
std::string without_quotes(std::string_view line) {
  std::string out;
  for (size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    const bool opens = (c == '\'' || c == '"') && (at == 0 || !is_letter(line[at - 1]));
    const size_t end = opens ? line.find(c, at + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      out += c;
    } else {
      out += '*';
      at = end;
    }
  }
  return out;
}

struct Word {
  bool english = false, begins = false, ends = false;  // begins, ends: no row goes on over it
};

Word word_of(std::string_view token) {
  Word word;
  while (!token.empty() && std::string_view("([").find(token.front()) != std::string_view::npos) {
    token.remove_prefix(1);
    word.begins = true;
  }
  while (!token.empty() &&
         std::string_view(")].:;!?,").find(token.back()) != std::string_view::npos) {
    word.ends |= token.back() != ',';
    token.remove_suffix(1);
  }
  if (token.ends_with("'s")) token.remove_suffix(2);
  word.english =
      token.size() >= 2 &&
      std::all_of(token.begin(), token.end(), [](char c) { return c >= 'a' && c <= 'z'; }) &&
      std::find(std::begin(kNames), std::end(kNames), token) == std::end(kNames);
  return word;
}

}  // namespace

std::string english_in(std::string_view line) {
  if (trim(line).starts_with("clvet ")) return {};
  std::vector<std::string> row;
  const auto enough = [&] { return row.size() >= kInARow; };
  for (const std::string& token :
       split(without_quotes(without_json_fault(std::string(line))), ' ')) {
    const Word word = word_of(token);
    if (enough() && (word.begins || !word.english)) break;
    if (word.begins || !word.english) row.clear();
    if (word.english) row.push_back(token);
    if (word.ends && enough()) break;
    if (word.ends) row.clear();
  }
  if (!enough()) return {};
  std::string part;
  for (const std::string& word : row) part += (part.empty() ? "" : " ") + word;
  return part;
}

std::vector<std::string> english_lines(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& line : split(text, '\n')) {
    const bool foreign =
        line.starts_with("    | ") ||
        std::any_of(std::begin(kForeign), std::end(kForeign),
                    [&](const char* words) { return line.find(words) != std::string::npos; });
    const std::string part = foreign ? "" : english_in(line);
    if (!part.empty()) found.push_back("'" + part + "' in: " + line);
  }
  return found;
}

std::string text_of_page(std::string page) {
  for (const std::string name : {"style", "script"}) {
    const size_t from = page.find("<" + name), to = page.find("</" + name);
    if (from != std::string::npos && to != std::string::npos) page.erase(from, to - from);
  }
  std::string text;
  for (size_t at = 0; at < page.size(); ++at) {
    const size_t end = page[at] == '<' ? page.find('>', at) : std::string::npos;
    text += end == std::string::npos ? page[at] : '\n';
    if (end != std::string::npos) at = end;
  }
  for (const auto& [from, to] : {std::pair("&#39;", "'"), {"&quot;", "\""}}) {
    const std::string_view entity = from;
    for (size_t at = text.find(entity); at != std::string::npos; at = text.find(entity, at))
      text.replace(at, entity.size(), to);
  }
  return text;
}

}  // namespace clvet::test
