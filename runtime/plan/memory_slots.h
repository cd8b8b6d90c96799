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
// In order of time, each into the free slot that fits best; the largest one grows where none does.
SlotPlan plan_slots(std::span<const Lifetime> lifetimes);

}  // namespace clvet
