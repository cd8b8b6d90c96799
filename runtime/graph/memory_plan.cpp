#include "runtime/graph/memory_plan.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "base/numbers.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

bool together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

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

struct Used {
  int64_t begin, end;
};

// The start of the tightest gap of `bytes` between used ranges, else the end of all of them.
int64_t tightest_gap(std::vector<Used> used, int64_t bytes, int64_t alignment) {
  std::sort(used.begin(), used.end(),
            [](const Used& a, const Used& b) { return a.begin < b.begin; });
  int64_t free_from = 0, best = -1, best_size = std::numeric_limits<int64_t>::max();
  for (const Used& range : used) {
    const int64_t size = range.begin - free_from;
    if (size >= bytes && size < best_size) {
      best = free_from;
      best_size = size;
    }
    free_from = std::max(free_from, round_up(range.end, alignment));
  }
  return best >= 0 ? best : free_from;
}

}  // namespace

ArenaPlan plan_arena(std::span<const Lifetime> lifetimes, int64_t alignment) {
  ArenaPlan plan;
  plan.offsets.assign(lifetimes.size(), 0);
  plan.peak_bytes = peak_of(lifetimes);
  std::vector<size_t> order(lifetimes.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return lifetimes[a].bytes > lifetimes[b].bytes; });
  std::vector<size_t> placed;
  for (const size_t i : order) {
    if (lifetimes[i].bytes == 0) continue;
    std::vector<Used> used;
    for (const size_t other : placed) {
      if (!together(lifetimes[i], lifetimes[other])) continue;
      used.push_back({plan.offsets[other], plan.offsets[other] + lifetimes[other].bytes});
    }
    plan.offsets[i] = tightest_gap(std::move(used), lifetimes[i].bytes, alignment);
    plan.arena_bytes = std::max(plan.arena_bytes, plan.offsets[i] + lifetimes[i].bytes);
    placed.push_back(i);
  }
  return plan;
}

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

std::vector<Lifetime> lifetimes_of(const Graph& graph) {
  std::vector<Lifetime> lifetimes(graph.values.size());
  const int end = static_cast<int>(graph.nodes.size());
  const auto begin = [&](ValueId id, int step) {
    const auto type = graph.values[id].type();
    const int64_t bytes =
        type ? elements_of(type->shape) * static_cast<int64_t>(size_of(type->dtype)) : 0;
    lifetimes[id] = {bytes, step, step};
  };
  for (const ValueId id : graph.inputs) begin(id, -1);
  for (int n = 0; n < end; ++n) {
    for (const ValueId out : graph.nodes[n].outputs) {
      if (out != kNoValue) begin(out, n);
    }
    for (const ValueId in : graph.nodes[n].inputs) {
      if (in != kNoValue && !graph.constant(in)) lifetimes[in].last = n;
    }
  }
  for (const ValueId out : graph.outputs) {
    if (!graph.constant(out)) lifetimes[out].last = end;
  }
  return lifetimes;
}

}  // namespace clvet
