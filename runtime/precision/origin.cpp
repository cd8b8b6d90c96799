#include "runtime/precision/origin.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "runtime/precision/blame.h"
#include "runtime/precision/watch.h"
#include "runtime/precision/wiring.h"

namespace clvet {
namespace {

class Tracer {
 public:
  Tracer(const Wiring& wiring, const Seen& seen) : wiring_(wiring), seen_(seen) {}

  // Of a node that is out of bounds: who made the value that it cannot bear.
  struct Source {
    int node = -1;
    std::string value;  // empty: the node's own fault
  };
  Source source_of(int node) const {
    const Blame& blame = *at(node).blame;
    if (blame.place == FaultPlace::kOutput) {
      for (const Wire& wire : reads(node)) {
        if (carries(wire, blame.fault)) return follow(wire, blame.fault);
      }
    }
    if (blame.place == FaultPlace::kInput && blame.lossy)
      return follow(reads(node)[static_cast<size_t>(blame.input)], blame.fault);
    return {node, {}};
  }

 private:
  const WatchedNode& at(int node) const { return seen_.nodes[static_cast<size_t>(node)]; }
  const std::vector<Wire>& reads(int node) const { return wiring_[static_cast<size_t>(node)]; }

  bool carries(const Wire& wire, PrecisionFault fault) const {
    if (wire.from < 0) {
      return wire.given >= 0 && fault == PrecisionFault::kOverflow &&
             seen_.inputs[static_cast<size_t>(wire.given)].overflows > 0;
    }
    switch (fault) {
      case PrecisionFault::kOverflow:
        return at(wire.from).range.overflows > 0;
      case PrecisionFault::kInteger:
        return at(wire.from).integers;
      case PrecisionFault::kUnderflow:
        return at(wire.from).blame && at(wire.from).blame->fault == fault;
      default:
        return false;
    }
  }

  // Back to the first that has such values.
  Source follow(const Wire& read, PrecisionFault fault) const {
    for (const Wire* wire = &read;;) {
      if (wire->from < 0) return {-1, wire->value};
      const auto& before = reads(wire->from);
      const auto next = std::find_if(before.begin(), before.end(),
                                     [&](const Wire& one) { return carries(one, fault); });
      if (next == before.end()) return {wire->from, wire->value};
      wire = &*next;
    }
  }

  const Wiring& wiring_;
  const Seen& seen_;
};

}  // namespace

std::vector<Suspicion> suspicions_of(const Wiring& wiring, const Seen& seen) {
  const Tracer tracer(wiring, seen);
  std::vector<Suspicion> found;
  for (size_t n = 0; n < seen.nodes.size(); ++n) {
    const WatchedNode& node = seen.nodes[n];
    if (!node.blame) continue;
    const auto source = tracer.source_of(static_cast<int>(n));
    Blame blame = *node.blame;
    if (!source.value.empty()) blame.value = source.value;
    const auto same = std::find_if(found.begin(), found.end(), [&](const Suspicion& row) {
      return row.node == source.node && (source.node >= 0 || row.blame.value == blame.value);
    });
    const double part = node.isolated.part();
    if (same != found.end()) {
      same->part = std::max(same->part, part);
      same->shows.push_back(static_cast<int>(n));
      continue;
    }
    found.push_back({source.node, std::move(blame), part, {static_cast<int>(n)}});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Suspicion& a, const Suspicion& b) { return a.node < b.node; });
  return found;
}

}  // namespace clvet
