#include "runtime/media/output_names.h"

#include <fmt/format.h>

#include <cctype>
#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace clvet {
namespace {

constexpr size_t kLongest = 100;

std::string plain(const std::string& name) {
  std::string out;
  for (const char c : name)
    out += std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-' ? c : '_';
  return out.empty() ? "_" : out.substr(0, kLongest);
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

}  // namespace

std::vector<std::string> npy_names(const std::vector<std::string>& outputs) {
  std::set<std::string> taken;
  std::vector<std::string> names;
  for (const std::string& output : outputs) {
    const std::string first = plain(output);
    std::string name = first;
    for (int number = 2; !taken.insert(lower(name)).second; ++number)
      name = fmt::format("{}-{}", first, number);
    names.push_back(name + ".npy");
  }
  return names;
}

}  // namespace clvet
