// Shares memory between tensors that are never alive together. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace clvet {

// Alive from the step that writes it to the last step that reads it, both included.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

// Whole objects, each used by one tensor at a time (for images and plain buffers).
struct SlotPlan {
  std::vector<int> slots;           // by lifetime; -1 where it has no bytes
  std::vector<int64_t> slot_bytes;  // by slot
  int64_t total_bytes = 0;
  int64_t peak_bytes = 0;
};
// The least of several orders, each tensor into the slot that grows least: in order of time, by
// size (Pisarchyk and Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020), and,
// where more than kGoodSlots times the peak remains, by sizes that are shaken a little. The same
// lifetimes have the same plan.
inline constexpr double kGoodSlots = 1.25;
SlotPlan plan_slots(std::span<const Lifetime> lifetimes);

}  // namespace clvet
