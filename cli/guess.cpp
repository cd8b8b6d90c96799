#include "cli/guess.h"

#include <string>
#include <vector>

#include "base/language.h"
#include "base/nearest.h"

namespace clvet {

std::string guess(const std::string& word, const std::vector<std::string>& known) {
  std::string names;
  for (const std::string& name : likely_words(word, known))
    names += (names.empty() ? "'" : tr(" or ") + "'") + name + "'";
  return names.empty() ? "" : tr("; did you mean {}?", names);
}

}  // namespace clvet
