// Joining neighbours against the definition: of all pairs the cheapest, the leftmost of equals,
// again and again.
#include "runtime/llm/merge.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// What a joined text costs and which token it is.
using Table = std::map<std::string, Merge, std::less<>>;

std::vector<Symbol> letters(const std::string& text) {
  std::vector<Symbol> symbols;
  for (size_t i = 0; i < text.size(); ++i) {
    symbols.push_back({std::string_view(text).substr(i, 1), text[i]});
  }
  return symbols;
}

std::optional<Merge> look_up(const Table& table, const Symbol& left, const Symbol& right) {
  const auto found = table.find(std::string(left.text) + std::string(right.text));
  return found == table.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> joined(const std::string& text, const Table& table) {
  std::vector<std::string> pieces;
  for (const Symbol& symbol : merge_neighbours(
           letters(text),
           [&](const Symbol&left, const Symbol&right) { return look_up(table, left, right); })) {
    pieces.emplace_back(symbol.text);
  }
  return pieces;
}

// The definition, in as many steps as it takes.
std::vector<std::string> by_definition(const std::string& text, const Table& table) {
  std::vector<std::string> pieces;
  for (const char letter : text) pieces.emplace_back(1, letter);
  for (;;) {
    std::optional<size_t> best;
    double least = 0;
    for (size_t i = 0; i + 1 < pieces.size(); ++i) {
      const auto found = table.find(pieces[i] + pieces[i + 1]);
      if (found == table.end() || (best && found->second.cost >= least)) continue;
      best = i;
      least = found->second.cost;
    }
    if (!best) return pieces;
    pieces[*best] += pieces[*best + 1];
    pieces.erase(pieces.begin() + static_cast<std::ptrdiff_t>(*best) + 1);
  }
}

TEST(MergeNeighbours, TakesTheCheapestPairAndOfEqualOnesTheLeftmost) {
  EXPECT_THAT(joined("abc", {{"ab", {2, 0}}, {"bc", {1, 0}}}), ElementsAre("a", "bc"));
  EXPECT_THAT(joined("abc", {{"ab", {1, 0}}, {"bc", {1, 0}}}), ElementsAre("ab", "c"));
  EXPECT_THAT(joined("aaaaa", {{"aa", {1, 0}}}), ElementsAre("aa", "aa", "a"));
  EXPECT_THAT(joined("aaaaa", {{"aa", {2, 0}}, {"aaaa", {1, 0}}}), ElementsAre("aaaa", "a"));
  EXPECT_THAT(joined("abcd", {{"ab", {-1, 0}}, {"cd", {-2, 0}}, {"abcd", {9, 0}}}),
              ElementsAre("abcd"));
}

TEST(MergeNeighbours, LeavesWhatNothingJoins) {
  EXPECT_THAT(joined("", {{"ab", {1, 0}}}), IsEmpty());
  EXPECT_THAT(joined("a", {{"ab", {1, 0}}}), ElementsAre("a"));
  EXPECT_THAT(joined("ba", {{"ab", {1, 0}}}), ElementsAre("b", "a"));
}

TEST(MergeNeighbours, GivesTheTokenOfTheLastMerge) {
  const Table table = {{"ab", {1, 100}}, {"abc", {2, 200}}};
  const auto symbols = merge_neighbours(
      letters("abcx"),
      [&](const Symbol& left, const Symbol& right) { return look_up(table, left, right); });
  ASSERT_EQ(symbols.size(), 2u);
  EXPECT_EQ(symbols[0].id, 200);
  EXPECT_EQ(symbols[1].id, 'x');
}

TEST(MergeNeighbours, AgreesWithTheDefinitionOnRandomTextsAndTables) {
  std::mt19937 random(11);
  const auto text = [&](size_t most) {
    std::string made(1 + random() % most, 'a');
    for (char& letter : made) letter = static_cast<char>('a' + random() % 3);
    return made;
  };
  for (int round = 0; round < 300; ++round) {
    Table table;
    for (int i = 0; i < 25; ++i) {
      table[text(6)] = {static_cast<double>(random() % 8), static_cast<TokenId>(i)};
    }
    const std::string whole = text(40);
    ASSERT_EQ(joined(whole, table), by_definition(whole, table)) << whole << " round " << round;
  }
}

}  // namespace
}  // namespace clvet
