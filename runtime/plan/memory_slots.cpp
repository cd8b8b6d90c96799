#include "runtime/plan/memory_slots.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numeric>
#include <span>
#include <vector>

namespace clvet {
namespace {

int64_t peak_of(std::span<const Lifetime> lifetimes) {
  std::map<int, int64_t> change;
  for (const Lifetime& life : lifetimes) {
    change[life.first] += life.bytes;
    change[life.last + 1] -= life.bytes;
  }
  int64_t alive = 0, peak = 0;
  for (const auto& [step, bytes] : change) peak = std::max(peak, alive += bytes);
  return peak;
}

std::vector<size_t> in_order_of_time(std::span<const Lifetime> lifetimes) {
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].first < lifetimes[b].first; });
  return order;
}

// The free slot that fits best, else the largest free one; -1 where none is free.
int free_slot(const Lifetime& life, const std::vector<int>& busy_until,
              const std::vector<int64_t>& slot_bytes) {
  int best = -1, largest = -1;
  for (size_t s = 0; s < busy_until.size(); ++s) {
    if (busy_until[s] >= life.first) continue;
    const int64_t size = slot_bytes[s];
    if (largest < 0 || size > slot_bytes[largest]) largest = static_cast<int>(s);
    const bool fits = size >= life.bytes;
    if (fits && (best < 0 || size < slot_bytes[best])) best = static_cast<int>(s);
  }
  return best < 0 ? largest : best;
}

}  // namespace

SlotPlan plan_slots(std::span<const Lifetime> lifetimes) {
  SlotPlan plan;
  plan.slots.assign(lifetimes.size(), -1);
  plan.peak_bytes = peak_of(lifetimes);
  std::vector<int> busy_until;
  for (const size_t i : in_order_of_time(lifetimes)) {
    const Lifetime& life = lifetimes[i];
    if (life.bytes == 0) continue;
    int slot = free_slot(life, busy_until, plan.slot_bytes);
    if (slot < 0) {
      slot = static_cast<int>(busy_until.size());
      busy_until.push_back(0);
      plan.slot_bytes.push_back(0);
    }
    plan.slots[i] = slot;
    plan.slot_bytes[slot] = std::max(plan.slot_bytes[slot], life.bytes);
    busy_until[slot] = life.last;
  }
  plan.total_bytes = std::accumulate(plan.slot_bytes.begin(), plan.slot_bytes.end(), int64_t{0});
  return plan;
}

}  // namespace clvet
