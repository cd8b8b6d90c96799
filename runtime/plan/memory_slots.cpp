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

}  // namespace

SlotPlan plan_slots(std::span<const Lifetime> lifetimes) {
  SlotPlan plan;
  plan.slots.assign(lifetimes.size(), -1);
  plan.peak_bytes = peak_of(lifetimes);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].first < lifetimes[b].first; });
  std::vector<int> busy_until;
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    if (life.bytes == 0) continue;
    int best = -1, largest = -1;
    for (size_t s = 0; s < busy_until.size(); ++s) {
      if (busy_until[s] >= life.first) continue;
      const int64_t size = plan.slot_bytes[s];
      if (largest < 0 || size > plan.slot_bytes[largest]) largest = static_cast<int>(s);
      const bool fits = size >= life.bytes;
      if (fits && (best < 0 || size < plan.slot_bytes[best])) best = static_cast<int>(s);
    }
    if (best < 0) best = largest;
    if (best < 0) {
      best = static_cast<int>(busy_until.size());
      busy_until.push_back(0);
      plan.slot_bytes.push_back(0);
    }
    plan.slots[i] = best;
    plan.slot_bytes[best] = std::max(plan.slot_bytes[best], life.bytes);
    busy_until[best] = life.last;
  }
  plan.total_bytes = std::accumulate(plan.slot_bytes.begin(), plan.slot_bytes.end(), int64_t{0});
  return plan;
}

}  // namespace clvet
