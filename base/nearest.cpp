#include "base/nearest.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/text.h"

namespace clvet {

size_t letters_between(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t changed = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, changed});
    }
  }
  return row[b.size()];
}

std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known,
                                       size_t most) {
  std::set<std::pair<size_t, std::string>> found;
  for (const std::string& name : known) found.emplace(letters_between(word, name), name);
  std::vector<std::string> best;
  for (const auto& [letters, name] : found) {
    if (best.size() < most) best.push_back(name);
  }
  return best;
}

std::vector<std::string> likely_words(std::string_view word,
                                      const std::vector<std::string>& known) {
  constexpr size_t kLongest = 64;  // no name of ours is longer, and the work grows with both
  constexpr size_t kMost = 3;
  if (word.empty() || word.size() > kLongest) return {};
  const std::string plain = lower_case(word);
  const size_t slips = (plain.size() + 2) / 3;
  std::set<std::pair<size_t, std::string>> found;
  for (const std::string& name : known) {
    const std::string other = lower_case(name);
    const size_t letters = other.starts_with(plain) ? 0 : letters_between(plain, other);
    if (letters <= slips && letters < other.size()) found.emplace(letters, name);
  }
  std::vector<std::string> best;
  for (const auto& [letters, name] : found) {
    if (letters == found.begin()->first && best.size() < kMost) best.push_back(name);
  }
  return best;
}

}  // namespace clvet
