#include "runtime/plan/memory_slots.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <span>
#include <utility>
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

using Order = std::vector<size_t>;  // of lifetimes

// By a key of each lifetime, the least first.
template <class Key>
Order order_by(std::span<const Lifetime> lifetimes, const Key& key) {
  std::vector<double> keys;
  for (const Lifetime& life : lifetimes) keys.push_back(key(life));
  Order order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  return order;
}

struct Slot {
  int64_t bytes = 0;
  std::vector<Lifetime> tenants;

  bool is_free(const Lifetime& life) const {
    return std::ranges::none_of(tenants, [&](const Lifetime& one) {
      return one.first <= life.last && life.first <= one.last;
    });
  }
  // Steps between `life` and the nearest tenant.
  int gap(const Lifetime& life) const {
    int least = std::numeric_limits<int>::max();
    for (const Lifetime& one : tenants)
      least = std::min(least, std::max(life.first - one.last, one.first - life.last));
    return least;
  }
};

enum class Prefer { kLeastWaste, kLeastGap };

// The free slot that has to grow least, and of those the preferred one; null where none is free.
Slot* best_slot(std::vector<Slot>& slots, const Lifetime& life, Prefer prefer) {
  Slot* best = nullptr;
  std::array<int64_t, 3> least{};
  for (Slot& slot : slots) {
    if (!slot.is_free(life)) continue;
    const int64_t grows = std::max<int64_t>(0, life.bytes - slot.bytes);
    const int64_t waste = std::max<int64_t>(0, slot.bytes - life.bytes), gap = slot.gap(life);
    const std::array<int64_t, 3> rank = prefer == Prefer::kLeastWaste
                                            ? std::array{grows, waste, gap}
                                            : std::array{grows, gap, waste};
    if (best && rank >= least) continue;
    best = &slot;
    least = rank;
  }
  return best;
}

SlotPlan plan_in(const Order& order, std::span<const Lifetime> lifetimes, Prefer prefer) {
  SlotPlan plan;
  plan.slots.assign(lifetimes.size(), -1);
  std::vector<Slot> slots;
  for (const size_t i : order) {
    const Lifetime& life = lifetimes[i];
    if (life.bytes == 0) continue;
    Slot* slot = best_slot(slots, life, prefer);
    if (!slot) slot = &slots.emplace_back();
    slot->bytes = std::max(slot->bytes, life.bytes);
    slot->tenants.push_back(life);
    plan.slots[i] = static_cast<int>(slot - slots.data());
  }
  for (const Slot& slot : slots) {
    plan.slot_bytes.push_back(slot.bytes);
    plan.total_bytes += slot.bytes;
  }
  return plan;
}

// Keeps the smaller plan, of equal ones the first.
void keep_better(SlotPlan plan, SlotPlan& best) {
  if (plan.total_bytes < best.total_bytes) best = std::move(plan);
}

}  // namespace

SlotPlan plan_slots(std::span<const Lifetime> lifetimes) {
  constexpr int kShakes = 24;
  constexpr double kShake = 0.5;  // of a size
  const int64_t peak = peak_of(lifetimes);
  const auto is_good = [&](const SlotPlan& plan) {
    return static_cast<double>(plan.total_bytes) <= kGoodSlots * static_cast<double>(peak);
  };
  const auto by_time = [](const Lifetime& life) { return double(life.first); };
  const auto by_size = [](const Lifetime& life) { return -double(life.bytes); };
  SlotPlan best = plan_in(order_by(lifetimes, by_time), lifetimes, Prefer::kLeastWaste);
  for (const Prefer prefer : {Prefer::kLeastWaste, Prefer::kLeastGap})
    keep_better(plan_in(order_by(lifetimes, by_size), lifetimes, prefer), best);
  std::minstd_rand random(1);
  for (int i = 0; i < kShakes && !is_good(best); ++i) {
    const Order order = order_by(lifetimes, [&](const Lifetime& life) {
      const double unit = double(random() - random.min()) / double(random.max() - random.min());
      return -double(life.bytes) * (1 + kShake * (2 * unit - 1));
    });
    keep_better(plan_in(order, lifetimes, i % 2 ? Prefer::kLeastGap : Prefer::kLeastWaste), best);
  }
  best.peak_bytes = peak;
  return best;
}

}  // namespace clvet
