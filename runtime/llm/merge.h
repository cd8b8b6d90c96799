// The step that both kinds of tokenizer rest on: joining neighbours, the best pair first.
#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "runtime/llm/vocabulary.h"

namespace clvet {

// A run of the text, which may be a token.
struct Symbol {
  std::string_view text;
  TokenId id = kNoToken;
};

struct Merge {
  double cost = 0;  // the least cost goes first, of equal ones the leftmost
  TokenId id = kNoToken;
};
using FindMerge = std::function<std::optional<Merge>(const Symbol& left, const Symbol& right)>;

// Joins neighbours until no pair can be joined. `symbols` are neighbours in one text, left to
// right. Takes n log n steps for n symbols.
std::vector<Symbol> merge_neighbours(std::vector<Symbol> symbols, const FindMerge& find);

}  // namespace clvet
