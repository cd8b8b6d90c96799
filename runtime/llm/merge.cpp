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

// Of each symbol that is left.
struct Neighbours {
  std::vector<size_t> before, after;

  explicit Neighbours(size_t count) : before(count), after(count) {
    for (size_t i = 0; i < count; ++i) {
      before[i] = i == 0 ? kNone : i - 1;
      after[i] = i + 1 == count ? kNone : i + 1;
    }
  }

  void join(size_t left, size_t right) {
    after[left] = after[right];
    if (after[right] != kNone) before[after[right]] = left;
  }
};

// One of them was joined to another meanwhile.
bool stale(const Candidate& pair, const std::vector<Symbol>& symbols,
           const Neighbours& neighbours) {
  const Symbol &a = symbols[pair.left], &b = symbols[pair.right];
  return a.text.empty() || b.text.empty() || neighbours.after[pair.left] != pair.right ||
         a.text.size() + b.text.size() != pair.bytes;
}

}  // namespace

std::vector<Symbol> merge_neighbours(std::vector<Symbol> symbols, const FindMerge& find) {
  Neighbours neighbours(symbols.size());
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
    if (stale(best, symbols, neighbours)) continue;
    Symbol &a = symbols[best.left], &b = symbols[best.right];
    a = {std::string_view(a.text.data(), best.bytes), best.id};
    b.text = {};
    neighbours.join(best.left, best.right);
    consider(neighbours.before[best.left], best.left);
    consider(best.left, neighbours.after[best.left]);
  }
  std::erase_if(symbols, [](const Symbol& symbol) { return symbol.text.empty(); });
  return symbols;
}

}  // namespace clvet
