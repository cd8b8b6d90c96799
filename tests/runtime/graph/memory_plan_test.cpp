#include <gmock/gmock.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/infer.h"
#include "runtime/graph/memory_plan.h"
#include "tests/runtime/model_builder.h"

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

TEST(MemoryPlan, PutsATensorIntoTheTightestGapThatIsFreeForAllOfItsLife) {
  // The first four fill 0 to 870; behind step 0 there are gaps of 300 and of 190.
  const std::vector<Lifetime> lives = {
      {300, 0, 0}, {200, 0, 9}, {190, 0, 0}, {180, 0, 9}, {150, 5, 5}};
  const ArenaPlan plan = plan_arena(lives, 1);
  EXPECT_EQ(plan.offsets, (std::vector<int64_t>{0, 300, 500, 690, 500}));
  EXPECT_EQ(plan.arena_bytes, 870);
  EXPECT_EQ(plan.peak_bytes, 870);
  EXPECT_EQ(plan_arena(lives, 128).offsets[4], 640) << "300 takes 384, 200 from there 256";
}

TEST(MemoryPlan, NeedsNoPlaceForTensorsWithoutBytes) {
  const std::vector<Lifetime> lives = {{0, 0, 5}, {10, 0, 5}, {0, 2, 2}};
  EXPECT_EQ(plan_arena(lives, 64).arena_bytes, 10);
  EXPECT_EQ(plan_slots(lives).slots, (std::vector<int>{-1, 0, -1}));
}

TEST(MemoryPlan, TakesSizesBeyondFourGigabytes) {
  const int64_t large = int64_t{5} << 30;
  const std::vector<Lifetime> lives = {{large, 0, 1}, {large + 1, 1, 2}, {3, 2, 2}};
  EXPECT_EQ(plan_arena(lives, 64).peak_bytes, 2 * large + 1);
  EXPECT_EQ(plan_slots(lives).total_bytes, 2 * large + 1);
}

TEST(MemoryPlan, ReusesTheSlotThatFitsBestAndGrowsTheLargestWhereNoneDoes) {
  const std::vector<Lifetime> lives = {{100, 0, 0}, {10, 0, 0}, {9, 1, 1}, {200, 1, 1}};
  const SlotPlan plan = plan_slots(lives);
  EXPECT_EQ(plan.slots, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(plan.slot_bytes, (std::vector<int64_t>{200, 10}));
  EXPECT_EQ(plan.peak_bytes, 209);
}

TEST(MemoryPlan, CountsAStepThatReadsAndWritesForBoth) {
  // The slot of a tensor that is last read in a step is not free for what that step writes.
  const SlotPlan plan = plan_slots(std::vector<Lifetime>{{8, 0, 3}, {8, 3, 4}, {8, 4, 5}});
  EXPECT_EQ(plan.slots, (std::vector<int>{0, 1, 0}));
}

TEST(MemoryPlan, KeepsOutputsToTheEndAndGivesConstantsAndUnknownTypesNoBytes) {
  test::ModelBuilder model;
  model.input("x", {4}).input("open", {-1}).input("unread", {2}).constant("k", {4}, {1, 2, 3, 4});
  model.node("Add", {"x", "k"}, {"early"});
  model.node("Relu", {"early"}, {"late"});
  model.node("Relu", {"open"}, {"unknown"});
  model.output("early").output("late").output("unknown").output("x").output("k");
  Graph graph = model.build();
  ASSERT_TRUE(infer_and_fold(graph));
  const auto lives = lifetimes_of(graph);
  const auto life = [&](const char* name) { return lives[graph.find_value(name)]; };
  EXPECT_EQ(life("early").first, 0);
  EXPECT_EQ(life("early").last, 3);
  EXPECT_EQ(life("x").last, 3) << "an input that is an output";
  EXPECT_EQ(life("k").bytes, 0);
  EXPECT_EQ(life("unknown").bytes, 0);
  EXPECT_EQ(life("unread").bytes, 8);
  EXPECT_EQ(life("unread").last, -1);
}

}  // namespace
}  // namespace clvet
