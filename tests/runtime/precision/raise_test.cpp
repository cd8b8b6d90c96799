#include "runtime/precision/raise.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <random>
#include <vector>

#include "base/result.h"
#include "runtime/precision/origin.h"
#include "runtime/precision/rounding.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using Sets = std::vector<std::vector<size_t>>;

// A chain of nodes that is cured where all nodes of one of `sets` are raised.
struct Chain {
  Sets sets;
  std::vector<double> costs;  // by node
  std::vector<Suspicion> suspicions;
  std::vector<double> parts;
  bool needs_first_beside_all_others = false;

  bool cures(const Raised& raised) const {
    const bool first_alone_is_low = !raised[0] && std::ranges::count(raised, false) == 1;
    if (needs_first_beside_all_others && first_alone_is_low) return false;
    return std::ranges::any_of(sets, [&](const auto& set) {
      return std::ranges::all_of(set, [&](size_t node) { return raised[node]; });
    });
  }
  double cost(const Raised& raised) const {
    double sum = 0;
    for (size_t n = 0; n < raised.size(); ++n) sum += raised[n] ? costs[n] : 0;
    return sum;
  }
  RaisePlan plan() const {
    Wiring wiring(costs.size());
    for (size_t n = 1; n < wiring.size(); ++n) wiring[n] = {{"v", static_cast<int>(n) - 1}};
    const RaiseProblem problem{
        wiring, suspicions, parts.empty() ? std::vector<double>(costs.size()) : parts,
        [this](const Raised& raised) -> Result<bool> { return cures(raised); },
        [this](const Raised& raised) { return cost(raised); }};
    return cheapest_raise(problem).value();
  }
};

std::vector<size_t> nodes_of(const Raised& raised) {
  std::vector<size_t> nodes;
  for (size_t n = 0; n < raised.size(); ++n)
    if (raised[n]) nodes.push_back(n);
  return nodes;
}

TEST(CheapestRaise, IsTheCheapestOfAllChoicesOfFewNodes) {
  std::mt19937 random(3);
  const auto pick = [&](size_t count) { return static_cast<size_t>(random() % count); };
  for (int i = 0; i < 200; ++i) {
    Chain chain;
    chain.costs.resize(6 + pick(4));
    for (double& cost : chain.costs) cost = 1 + static_cast<double>(pick(100));
    for (size_t set = 0; set <= pick(3); ++set) {
      chain.sets.emplace_back();
      for (size_t n = 0; n <= pick(3); ++n) chain.sets.back().push_back(pick(chain.costs.size()));
    }
    // The least of all sets, as repeated nodes count once.
    double least = std::numeric_limits<double>::infinity();
    for (const auto& set : chain.sets) {
      Raised raised(chain.costs.size());
      for (const size_t node : set) raised[node] = true;
      least = std::min(least, chain.cost(raised));
    }
    const RaisePlan plan = chain.plan();
    EXPECT_TRUE(chain.cures(plan.raised)) << i;
    EXPECT_TRUE(plan.smallest) << i;
    EXPECT_EQ(chain.cost(plan.raised), least) << i;
  }
}

// Node 0 is needed beside all others alone: what they leave cancels out with the error of node 0.
TEST(CheapestRaise, LeavesOutANodeThatIsNeededBesideAllOthersAlone) {
  Chain chain{.sets = {{1, 2}}, .costs = {1, 1, 1, 1, 1}};
  chain.needs_first_beside_all_others = true;
  const RaisePlan plan = chain.plan();
  EXPECT_THAT(nodes_of(plan.raised), ElementsAre(1, 2));
  EXPECT_TRUE(plan.smallest);
}

TEST(CheapestRaise, RaisesNoNodeOnlyBecauseItIsFasterSo) {
  const Chain chain{.sets = {{2, 3}}, .costs = {-5, -5, 1, 1, -5, -5}};
  EXPECT_THAT(nodes_of(chain.plan().raised), ElementsAre(2, 3));
}

TEST(CheapestRaise, RaisesAllWhereNothingLessHelps) {
  const Chain chain{.sets = {{0, 1, 2, 3}}, .costs = {1, 1, 1, 1}};
  EXPECT_THAT(nodes_of(chain.plan().raised), ElementsAre(0, 1, 2, 3));
}

// Of a chain of 20, nodes 5 and 6 are suspected, and dear.
TEST(CheapestRaise, TakesACheaperChoiceBesideTheSuspectedOneOfManyNodes) {
  Chain chain{.sets = {{5, 6}, {7, 8}}, .costs = std::vector<double>(20, 1)};
  chain.costs[5] = 10;
  chain.suspicions = {{.node = 5, .shows = {6}}};
  EXPECT_THAT(nodes_of(chain.plan().raised), ElementsAre(5, 6)) << "8 is not near";
  chain.parts = std::vector<double>(20);
  chain.parts[7] = chain.parts[8] = 0.04;
  EXPECT_THAT(nodes_of(chain.plan().raised), ElementsAre(7, 8));
}

TEST(CheapestRaise, AsksLittleMoreWhereEachNodeIsNeeded) {
  Chain chain{.sets = {{5, 6}}, .costs = std::vector<double>(300, 1)};
  chain.suspicions = {{.node = 5, .shows = {6}}};
  const RaisePlan plan = chain.plan();
  EXPECT_THAT(nodes_of(plan.raised), ElementsAre(5, 6));
  EXPECT_LE(plan.trials, 5);
}

}  // namespace
}  // namespace clvet
