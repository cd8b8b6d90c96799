// What is said of a word that is not known, where a known one is near.
#pragma once

#include <string>
#include <vector>

namespace clvet {

// "; did you mean 'probe'?" in the user's language; empty where no known word is near.
std::string guess(const std::string& word, const std::vector<std::string>& known);

}  // namespace clvet
