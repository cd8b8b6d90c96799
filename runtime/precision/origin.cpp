#include "runtime/precision/origin.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/watch.h"

namespace clvet {
namespace {

class Tracer {
 public:
  Tracer(const Graph& graph, const Watched& watched)
      : graph_(graph), watched_(watched), links_(graph) {}

  // Of a node that is out of bounds: who made the value that it cannot bear.
  struct Source {
    int node = -1;
    ValueId value = kNoValue;
  };
  Source source_of(int node) const {
    const Blame& blame = *at(node).blame;
    if (blame.place == FaultPlace::kOutput) {
      for (const ValueId in : own(node).inputs) {
        if (carries(in, blame.fault)) return follow(in, blame.fault);
      }
      return {node, kNoValue};
    }
    const ValueId value = own(node).inputs[static_cast<size_t>(blame.input)];
    if (blame.place == FaultPlace::kInput && blame.lossy) return follow(value, blame.fault);
    return {node, kNoValue};
  }
  const Node& own(int node) const { return graph_.nodes[static_cast<size_t>(node)]; }

 private:
  const WatchedNode& at(int node) const { return watched_.nodes[static_cast<size_t>(node)]; }
  int producer(ValueId value) const { return links_.producer[static_cast<size_t>(value)]; }

  bool carries(ValueId value, PrecisionFault fault) const {
    if (value == kNoValue || graph_.constant(value)) return false;
    const int from = producer(value);
    if (from < 0) {
      const auto found = std::find(graph_.inputs.begin(), graph_.inputs.end(), value);
      if (found == graph_.inputs.end()) return false;
      const auto& range = watched_.inputs[static_cast<size_t>(found - graph_.inputs.begin())];
      return fault == PrecisionFault::kOverflow && range.overflows > 0;
    }
    switch (fault) {
      case PrecisionFault::kOverflow:
        return at(from).range.overflows > 0;
      case PrecisionFault::kInteger:
        return at(from).integers;
      case PrecisionFault::kUnderflow:
        return at(from).blame && at(from).blame->fault == fault;
      default:
        return false;
    }
  }

  // Back to the first that has such values.
  Source follow(ValueId value, PrecisionFault fault) const {
    for (;;) {
      const int from = producer(value);
      if (from < 0) return {-1, value};
      const auto& inputs = own(from).inputs;
      const auto next = std::find_if(inputs.begin(), inputs.end(),
                                     [&](ValueId in) { return carries(in, fault); });
      if (next == inputs.end()) return {from, value};
      value = *next;
    }
  }

  const Graph& graph_;
  const Watched& watched_;
  Links links_;
};

}  // namespace

std::vector<Suspicion> suspicions_of(const Graph& graph, const Watched& watched) {
  const Tracer tracer(graph, watched);
  std::vector<Suspicion> found;
  for (size_t n = 0; n < watched.nodes.size(); ++n) {
    const WatchedNode& node = watched.nodes[n];
    if (!node.blame) continue;
    const auto source = tracer.source_of(static_cast<int>(n));
    Blame blame = *node.blame;
    if (source.value != kNoValue)
      blame.value = graph.values[static_cast<size_t>(source.value)].name;
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
