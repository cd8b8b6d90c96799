#include "runtime/llm/merge.h"

#include <cstddef>
#include <queue>
#include <tuple>
#include <vector>

#include "runtime/llm/vocabulary.h"

namespace clvet {
namespace {

constexpr size_t kNone = ~size_t{0};

struct Candidate {
  double cost = 0;
  size_t left = 0, right = 0;
  size_t bytes = 0;  // of both when they were looked at
  TokenId id = kNoToken;

  bool operator<(const Candidate& other) const {  // the queue gives the greatest first
    return std::tie(cost, left) > std::tie(other.cost, other.left);
  }
};

}  // namespace

std::vector<Symbol> merge_neighbours(std::vector<Symbol> symbols, const FindMerge& find) {
  std::vector<size_t> before(symbols.size()), after(symbols.size());
  for (size_t i = 0; i < symbols.size(); ++i) {
    before[i] = i == 0 ? kNone : i - 1;
    after[i] = i + 1 == symbols.size() ? kNone : i + 1;
  }
  std::priority_queue<Candidate> queue;
  const auto consider = [&](size_t left, size_t right) {
    if (left == kNone || right == kNone) return;
    const Symbol &a = symbols[left], &b = symbols[right];
    if (const auto merge = find(a, b)) {
      queue.push({merge->cost, left, right, a.text.size() + b.text.size(), merge->id});
    }
  };
  for (size_t i = 1; i < symbols.size(); ++i) consider(i - 1, i);
  while (!queue.empty()) {
    const Candidate best = queue.top();
    queue.pop();
    Symbol &a = symbols[best.left], &b = symbols[best.right];
    // One of them was joined to another meanwhile.
    const bool stale = a.text.empty() || b.text.empty() || after[best.left] != best.right ||
                       a.text.size() + b.text.size() != best.bytes;
    if (stale) continue;
    a = {std::string_view(a.text.data(), best.bytes), best.id};
    b.text = {};
    after[best.left] = after[best.right];
    if (after[best.right] != kNone) before[after[best.right]] = best.left;
    consider(before[best.left], best.left);
    consider(best.left, after[best.left]);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.text.empty(); });
  return symbols;
}

}  // namespace clvet
