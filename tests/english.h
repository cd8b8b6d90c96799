// Finds English in a text that is meant to be in another language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace clvet::test {

// The part of a line that has three English words in a row; empty where none has. What is a name is
// left out: text in '...' or "...", paths, words with digits or marks, frameworks, example command
// lines ("clvet run ...").
std::string english_in(std::string_view line);

// Of each line of a text that has English: "PART in: LINE". Left out are lines of others' own
// words: what a framework would print ("    | ..."), what dlopen says.
std::vector<std::string> english_lines(const std::string& text);

// What a page shows, a line for each element; no style and no script.
std::string text_of_page(std::string page);

}  // namespace clvet::test
