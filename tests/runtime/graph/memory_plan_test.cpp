#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/infer.h"
#include "runtime/graph/memory_plan.h"
#include "tests/runtime/helpers.h"

namespace clvet {
namespace {

bool together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

std::vector<Lifetime> random_lifetimes(uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Lifetime> lives;
  for (int i = 0; i < 60; ++i) {
    const int first = static_cast<int>(random() % 50);
    lives.push_back(
        {static_cast<int64_t>(random() % 5000), first, first + static_cast<int>(random() % 12)});
  }
  return lives;
}

TEST(MemoryPlan, ArenaNeverOverlapsTensorsAliveTogether) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const auto lives = random_lifetimes(seed);
    const ArenaPlan plan = plan_arena(lives, 64);
    for (size_t a = 0; a < lives.size(); ++a) {
      EXPECT_EQ(plan.offsets[a] % 64, 0);
      EXPECT_LE(plan.offsets[a] + lives[a].bytes, plan.arena_bytes);
      for (size_t b = 0; b < a; ++b) {
        if (!together(lives[a], lives[b]) || !lives[a].bytes || !lives[b].bytes) continue;
        const bool apart = plan.offsets[a] + lives[a].bytes <= plan.offsets[b] ||
                           plan.offsets[b] + lives[b].bytes <= plan.offsets[a];
        EXPECT_TRUE(apart) << seed << ": " << a << " and " << b;
      }
    }
    EXPECT_GE(plan.arena_bytes, plan.peak_bytes);
    EXPECT_LT(plan.arena_bytes, plan.peak_bytes * 3 / 2 + 64 * 60);
  }
}

TEST(MemoryPlan, SlotsNeverServeTwoTensorsAtOnce) {
  for (uint32_t seed = 0; seed < 40; ++seed) {
    const auto lives = random_lifetimes(seed);
    const SlotPlan plan = plan_slots(lives);
    for (size_t a = 0; a < lives.size(); ++a) {
      if (!lives[a].bytes) continue;
      EXPECT_LE(lives[a].bytes, plan.slot_bytes[plan.slots[a]]);
      for (size_t b = 0; b < a; ++b) {
        if (!together(lives[a], lives[b]) || !lives[b].bytes) continue;
        EXPECT_NE(plan.slots[a], plan.slots[b]);
      }
    }
    EXPECT_GE(plan.total_bytes, plan.peak_bytes);
  }
}

TEST(MemoryPlan, AChainNeedsTwoSlots) {
  std::vector<Lifetime> lives;
  for (int i = 0; i < 10; ++i) lives.push_back({100, i, i + 1});
  EXPECT_EQ(plan_slots(lives).slot_bytes.size(), 2u);
  EXPECT_EQ(plan_arena(lives, 1).arena_bytes, 200);
  EXPECT_EQ(plan_arena(lives, 1).peak_bytes, 200);
}

TEST(MemoryPlan, NothingNeedsNothing) {
  EXPECT_EQ(plan_arena({}, 64).arena_bytes, 0);
  EXPECT_EQ(plan_slots({}).total_bytes, 0);
}

TEST(MemoryPlan, LifetimesFollowTheGraph) {
  test::ModelBuilder model;
  model.input("x", {4});
  model.node("Relu", {"x"}, {"a"});
  model.node("Sigmoid", {"a"}, {"b"});
  model.node("Add", {"a", "b"}, {"y"});
  model.output("y");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  const auto lives = lifetimes_of(graph);
  const Lifetime a = lives[graph.find_value("a")], y = lives[graph.find_value("y")],
                 x = lives[graph.find_value("x")];
  EXPECT_EQ(a.bytes, 16);
  EXPECT_EQ(a.first, 0);
  EXPECT_EQ(a.last, 2);
  EXPECT_EQ(x.first, -1);
  EXPECT_EQ(y.last, 3);
}

}  // namespace
}  // namespace clvet
