#include "runtime/precision/raise.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/precision/origin.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

// Of so few nodes every choice is tried that may be the cheapest.
constexpr size_t kFew = 9;
// How far back from a node its inputs are kept in float32.
constexpr int kDepth = 6;
// Nodes with the largest errors of their own that may take the place of raised ones.
constexpr size_t kOthers = 8;

class Search {
 public:
  explicit Search(const RaiseProblem& problem) : problem_(problem), size_(problem.wiring.size()) {}

  Result<RaisePlan> run() {
    if (size_ <= kFew) {
      std::vector<size_t> all(size_);
      std::iota(all.begin(), all.end(), size_t{0});
      CLVET_ASSIGN_OR_RETURN(Raised raised, cheapest_of(std::move(all)));
      return RaisePlan{std::move(raised), trials_, smallest_};
    }
    CLVET_ASSIGN_OR_RETURN(const Raised cure, enough());
    CLVET_ASSIGN_OR_RETURN(Raised raised, fewest(cure));
    CLVET_ASSIGN_OR_RETURN(raised, cheaper(std::move(raised)));
    return RaisePlan{std::move(raised), trials_, smallest_};
  }

 private:
  bool may_try() const { return size_ <= kFew || trials_ < problem_.most_trials; }
  Result<bool> cures(const Raised& raised) {
    ++trials_;
    return problem_.cures(raised);
  }

  void add_producers(Raised& raised) const {
    const Raised before = raised;
    for (size_t n = 0; n < size_; ++n) {
      if (!before[n]) continue;
      for (const Wire& wire : problem_.wiring[n])
        if (wire.from >= 0) raised[static_cast<size_t>(wire.from)] = true;
    }
  }

  // A set that cures, not yet the smallest.
  Result<Raised> enough() {
    Raised raised(size_, false);
    for (const Suspicion& one : problem_.suspicions) {
      if (one.node >= 0) raised[static_cast<size_t>(one.node)] = true;
      for (const int node : one.shows) raised[static_cast<size_t>(node)] = true;
    }
    const bool suspects = std::find(raised.begin(), raised.end(), true) != raised.end();
    for (int depth = 0; suspects && depth < kDepth && may_try(); ++depth) {
      CLVET_ASSIGN_OR_RETURN(const bool cured, cures(raised));
      if (cured) return raised;
      add_producers(raised);
    }
    return by_error();
  }

  std::vector<size_t> by_own_error() const {
    std::vector<size_t> order(size_);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t a, size_t b) { return problem_.parts[a] > problem_.parts[b]; });
    return order;
  }

  // The nodes with the largest errors of their own, twice as many each time.
  Result<Raised> by_error() {
    const std::vector<size_t> order = by_own_error();
    for (size_t count = 2; count < size_ && may_try(); count *= 2) {
      Raised raised(size_, false);
      for (size_t i = 0; i < count; ++i) raised[order[i]] = true;
      CLVET_ASSIGN_OR_RETURN(const bool cured, cures(raised));
      if (cured) return raised;
    }
    return Raised(size_, true);
  }

  static std::vector<size_t> members(const Raised& raised) {
    std::vector<size_t> found;
    for (size_t n = 0; n < raised.size(); ++n) {
      if (raised[n]) found.push_back(n);
    }
    return found;
  }

  double cost_of(size_t node) const {
    Raised one(size_, false);
    one[node] = true;
    return problem_.cost(one);
  }

  Result<Raised> fewest(Raised raised) {
    if (members(raised).size() > kFew) {
      CLVET_ASSIGN_OR_RETURN(raised, without_parts(std::move(raised)));
    }
    auto nodes = members(raised);
    return nodes.size() <= kFew ? cheapest_of(std::move(nodes)) : std::move(raised);
  }

  // Leaves out halves, quarters, and so on, down to single nodes, the dearest first.
  Result<Raised> without_parts(Raised raised) {
    std::vector<size_t> order = members(raised);
    std::vector<double> costs(size_);
    for (const size_t node : order) costs[node] = cost_of(node);
    std::stable_sort(order.begin(), order.end(),
                     [&costs](size_t a, size_t b) { return costs[a] > costs[b]; });
    for (size_t part = std::max<size_t>(1, order.size() / 2);; part /= 2) {
      for (size_t first = 0; first < order.size() && may_try();) {
        const size_t end = std::min(order.size(), first + part);
        Raised less = raised;
        for (size_t i = first; i < end; ++i) less[order[i]] = false;
        CLVET_ASSIGN_OR_RETURN(const bool cured, cures(less));
        if (cured) {
          raised = std::move(less);
          order.erase(order.begin() + static_cast<std::ptrdiff_t>(first),
                      order.begin() + static_cast<std::ptrdiff_t>(end));
        } else {
          first = end;
        }
      }
      if (part == 1) break;
    }
    smallest_ = may_try();
    return raised;
  }

  // Choices of some nodes, one bit each, and whether they cure: each is asked once.
  struct Choices {
    std::vector<size_t> nodes;
    std::map<uint32_t, bool> cured = {};
    uint32_t all() const { return (1U << nodes.size()) - 1; }
  };

  Raised raised_of(const Choices& of, uint32_t word) const {
    Raised raised(size_, false);
    for (size_t i = 0; i < of.nodes.size(); ++i) raised[of.nodes[i]] = (word >> i & 1) != 0;
    return raised;
  }

  Result<bool> cures(Choices& of, uint32_t word) {
    const auto [known, is_new] = of.cured.try_emplace(word, word == of.all());
    if (is_new && word != 0 && word != of.all()) {
      CLVET_ASSIGN_OR_RETURN(known->second, cures(raised_of(of, word)));
    }
    return known->second;
  }

  // Those without which all others do not cure.
  Result<uint32_t> needed_of(Choices& of) {
    uint32_t needed = 0;
    for (size_t i = 0; i < of.nodes.size() && may_try(); ++i) {
      CLVET_ASSIGN_OR_RETURN(const bool cured, cures(of, of.all() & ~(1U << i)));
      if (!cured) needed |= 1U << i;
    }
    return needed;
  }

  // Choices of `count` nodes with all of `needed`, fewer nodes first.
  static std::vector<uint32_t> with_needed(size_t count, uint32_t needed) {
    std::vector<uint32_t> words;
    for (uint32_t word = 1; word < 1U << count; ++word)
      if ((word & needed) == needed) words.push_back(word);
    std::ranges::stable_sort(words, {}, [](uint32_t word) { return std::popcount(word); });
    return words;
  }

  // As if a choice cured wherever a part of it does.
  Result<std::vector<uint32_t>> smallest_of(Choices& of, uint32_t needed) {
    std::vector<uint32_t> smallest;
    for (const uint32_t word : with_needed(of.nodes.size(), needed)) {
      const bool has_part =
          std::ranges::any_of(smallest, [word](uint32_t part) { return (part & word) == part; });
      if (has_part) continue;
      if (!may_try()) break;
      CLVET_ASSIGN_OR_RETURN(const bool cured, cures(of, word));
      if (cured) smallest.push_back(word);
    }
    return smallest;
  }

  // Errors may cancel out, so that a node is needed beside all others and not beside some: leaves
  // out one at a time while that still cures.
  Result<std::vector<uint32_t>> without_needless(Choices& of, std::vector<uint32_t> words) {
    std::vector<uint32_t> done;
    while (!words.empty()) {
      const uint32_t word = words.back();
      words.pop_back();
      bool needless = false;
      for (size_t i = 0; i < of.nodes.size() && may_try(); ++i) {
        const uint32_t less = word & ~(1U << i);
        if (less == word) continue;
        CLVET_ASSIGN_OR_RETURN(const bool cured, cures(of, less));
        if (cured) words.push_back(less);
        needless |= cured;
      }
      if (!needless) done.push_back(word);
    }
    return done;
  }

  // Of `nodes`, which cure together: the cheapest choice that cures and has no part that does.
  Result<Raised> cheapest_of(std::vector<size_t> nodes) {
    Choices of{std::move(nodes)};
    CLVET_ASSIGN_OR_RETURN(const uint32_t needed, needed_of(of));
    CLVET_ASSIGN_OR_RETURN(auto words, smallest_of(of, needed));
    CLVET_ASSIGN_OR_RETURN(words, without_needless(of, std::move(words)));
    smallest_ = may_try();
    Raised best = raised_of(of, of.all());
    double least = std::numeric_limits<double>::infinity();
    for (const uint32_t word : words) {
      Raised one = raised_of(of, word);
      const double cost = problem_.cost(one);
      if (cost < least) best = std::move(one), least = cost;
    }
    return best;
  }

  // What `raised` has, what is beside it, what is suspected, and the largest errors elsewhere.
  Raised around(const Raised& raised) const {
    Raised wide = raised;
    add_producers(wide);
    for (size_t n = 0; n < size_; ++n) {
      for (const Wire& wire : problem_.wiring[n])
        if (wire.from >= 0 && raised[static_cast<size_t>(wire.from)]) wide[n] = true;
    }
    for (const Suspicion& one : problem_.suspicions) {
      for (const int node : one.shows) wide[static_cast<size_t>(node)] = true;
    }
    const std::vector<size_t> order = by_own_error();
    for (size_t i = 0; i < std::min(kOthers, size_); ++i) wide[order[i]] = true;
    return wide;
  }

  // `raised`, or a cheaper choice nearby that does without one of its nodes.
  Result<Raised> cheaper(Raised raised) {
    if (!smallest_ || members(raised).size() > kFew) return raised;
    double least = problem_.cost(raised);
    const Raised wide = around(raised);
    for (const size_t node : members(raised)) {
      if (!may_try()) break;
      Raised without = wide;
      without[node] = false;
      CLVET_ASSIGN_OR_RETURN(const bool cured, cures(without));
      if (!cured) continue;
      CLVET_ASSIGN_OR_RETURN(Raised other, fewest(std::move(without)));
      const double cost = problem_.cost(other);
      if (smallest_ && cost < least) raised = std::move(other), least = cost;
    }
    smallest_ = true;
    return raised;
  }

  const RaiseProblem& problem_;
  size_t size_;
  int trials_ = 0;
  bool smallest_ = false;
};

}  // namespace

Result<RaisePlan> cheapest_raise(const RaiseProblem& problem) { return Search(problem).run(); }

}  // namespace clvet
