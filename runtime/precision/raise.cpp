#include "runtime/precision/raise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/precision/origin.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

// Of so few nodes every choice is tried, the cheapest first.
constexpr size_t kFew = 7;
// How far back from a node its inputs are kept in float32.
constexpr int kDepth = 6;

class Search {
 public:
  explicit Search(const RaiseProblem& problem) : problem_(problem), size_(problem.wiring.size()) {}

  Result<RaisePlan> run() {
    CLVET_ASSIGN_OR_RETURN(Raised raised, enough());
    CLVET_ASSIGN_OR_RETURN(raised, fewest(std::move(raised)));
    return RaisePlan{std::move(raised), trials_, smallest_};
  }

 private:
  bool may_try() const { return trials_ < problem_.most_trials; }
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

  // The nodes with the largest errors of their own, twice as many each time.
  Result<Raised> by_error() {
    std::vector<size_t> order(size_);
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [this](size_t a, size_t b) { return problem_.parts[a] > problem_.parts[b]; });
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
    const auto nodes = members(raised);
    if (nodes.size() <= kFew) return cheapest_of(nodes, std::move(raised));
    return without_parts(std::move(raised));
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

  Result<Raised> cheapest_of(const std::vector<size_t>& nodes, Raised best) {
    struct Choice {
      Raised raised;
      double cost = 0;
    };
    std::vector<Choice> all;
    for (uint32_t word = 1; word + 1 < (1u << nodes.size()); ++word) {
      Raised one(size_, false);
      for (size_t i = 0; i < nodes.size(); ++i) one[nodes[i]] = (word >> i & 1) != 0;
      const double cost = problem_.cost(one);
      all.push_back({std::move(one), cost});
    }
    std::stable_sort(all.begin(), all.end(),
                     [](const Choice& a, const Choice& b) { return a.cost < b.cost; });
    const double most = problem_.cost(best);
    for (Choice& one : all) {
      if (!may_try() || one.cost >= most) break;
      CLVET_ASSIGN_OR_RETURN(const bool cured, cures(one.raised));
      if (!cured) continue;
      best = std::move(one.raised);
      break;
    }
    smallest_ = may_try();
    return best;
  }

  const RaiseProblem& problem_;
  size_t size_;
  int trials_ = 0;
  bool smallest_ = false;
};

}  // namespace

Result<RaisePlan> cheapest_raise(const RaiseProblem& problem) { return Search(problem).run(); }

}  // namespace clvet
