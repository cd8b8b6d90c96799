#include "runtime/plan/memory_slots.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

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

TEST(MemorySlots, SlotsNeverServeTwoTensorsAtOnce) {
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

// A large tensor comes late: in order of time alone, small slots would have to grow.
TEST(MemorySlots, TakesLargeTensorsFirstWhereThatIsLess) {
  const std::vector<Lifetime> lives = {{10, 0, 1},  {10, 1, 2}, {1000, 2, 3},
                                       {900, 3, 4}, {10, 4, 6}, {10, 5, 6}};
  const SlotPlan plan = plan_slots(lives);
  EXPECT_EQ(plan.peak_bytes, 1900);
  EXPECT_EQ(plan.total_bytes, 1900);
}

TEST(MemorySlots, StaysNearThePeakForShapesOfNetworks) {
  // Levels of a feature pyramid: each is half the one before, and is read again at the end.
  std::vector<Lifetime> lives;
  int64_t bytes = 1 << 20;
  for (int level = 0; level < 6; ++level, bytes /= 2) {
    for (int i = 0; i < 4; ++i) lives.push_back({bytes, 4 * level + i, 4 * level + i + 1});
    lives.push_back({bytes / 4, 4 * level + 3, 40 - level});
  }
  const SlotPlan plan = plan_slots(lives);
  EXPECT_LE(static_cast<double>(plan.total_bytes), 1.3 * static_cast<double>(plan.peak_bytes));
  EXPECT_EQ(plan_slots(lives).slots, plan.slots) << "the same each time";
}

TEST(MemorySlots, AChainNeedsTwoSlots) {
  std::vector<Lifetime> lives;
  for (int i = 0; i < 10; ++i) lives.push_back({100, i, i + 1});
  EXPECT_EQ(plan_slots(lives).slot_bytes.size(), 2u);
}

TEST(MemorySlots, NothingNeedsNothing) { EXPECT_EQ(plan_slots({}).total_bytes, 0); }

TEST(MemorySlots, NeedsNoPlaceForTensorsWithoutBytes) {
  const std::vector<Lifetime> lives = {{0, 0, 5}, {10, 0, 5}, {0, 2, 2}};
  EXPECT_EQ(plan_slots(lives).slots, (std::vector<int>{-1, 0, -1}));
}

TEST(MemorySlots, TakesSizesBeyondFourGigabytes) {
  const int64_t large = int64_t{5} << 30;
  const std::vector<Lifetime> lives = {{large, 0, 1}, {large + 1, 1, 2}, {3, 2, 2}};
  EXPECT_EQ(plan_slots(lives).total_bytes, 2 * large + 1);
}

TEST(MemorySlots, ReusesTheSlotThatFitsBestAndGrowsTheLargestWhereNoneDoes) {
  const std::vector<Lifetime> lives = {{100, 0, 0}, {10, 0, 0}, {9, 1, 1}, {200, 1, 1}};
  const SlotPlan plan = plan_slots(lives);
  EXPECT_EQ(plan.slots, (std::vector<int>{0, 1, 1, 0}));
  EXPECT_EQ(plan.slot_bytes, (std::vector<int64_t>{200, 10}));
  EXPECT_EQ(plan.peak_bytes, 209);
}

TEST(MemorySlots, CountsAStepThatReadsAndWritesForBoth) {
  // The slot of a tensor that is last read in a step is not free for what that step writes.
  const SlotPlan plan = plan_slots(std::vector<Lifetime>{{8, 0, 3}, {8, 3, 4}, {8, 4, 5}});
  EXPECT_EQ(plan.slots, (std::vector<int>{0, 1, 0}));
}

}  // namespace
}  // namespace clvet
