// What a user may have meant by a word that is not known.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace clvet {

// How many letters have to be changed, added or left out.
size_t letters_between(std::string_view a, std::string_view b);

// At most `most` of `known`, those with the fewest letters between them and `word` first; equal
// ones in the order of their names. None stands there twice.
std::vector<std::string> nearest_words(std::string_view word, const std::vector<std::string>& known,
                                       size_t most);

// Of `known`, those that `word` may be a slip of: it is the beginning of them, or about a third of
// its letters are wrong. Without case; at most three; the likeliest first.
std::vector<std::string> likely_words(std::string_view word, const std::vector<std::string>& known);

}  // namespace clvet
