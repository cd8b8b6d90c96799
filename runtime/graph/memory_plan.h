// Shares memory between tensors that are never alive together. Pure: no graph, no device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "runtime/graph/graph.h"

namespace clvet {

// Alive from the step that writes it to the last step that reads it, both included.
struct Lifetime {
  int64_t bytes = 0;
  int first = 0, last = 0;
};

// One arena, a place in it for each tensor (for buffers that can be cut up).
struct ArenaPlan {
  std::vector<int64_t> offsets;  // by lifetime; a multiple of the alignment
  int64_t arena_bytes = 0;
  int64_t peak_bytes = 0;  // most that is alive in one step: a lower bound of arena_bytes
};
// Largest first, each into the tightest gap that is free for all of its life.
ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, int64_t alignment);

// Whole objects, each used by one tensor at a time (for images and plain buffers).
struct SlotPlan {
  std::vector<int> slots;           // by lifetime; -1 where it has no bytes
  std::vector<int64_t> slot_bytes;  // by slot
  int64_t total_bytes = 0;
  int64_t peak_bytes = 0;
};
// In order of time, each into the free slot that fits best; the largest one grows where none does.
SlotPlan plan_slots(std::span<const Lifetime> lifetimes);

// First and last node of each value of the graph; inputs live from -1, outputs to nodes.size().
// Constants, and values that nothing makes, have bytes 0. Unknown types have bytes 0, too.
std::vector<Lifetime> lifetimes_of(const Graph& graph);

}  // namespace clvet
