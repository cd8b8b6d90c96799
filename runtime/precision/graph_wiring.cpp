#include "runtime/precision/graph_wiring.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/precision/wiring.h"

namespace clvet {

Wiring wiring_of(const Graph& graph) {
  const Links links(graph);
  Wiring wiring;
  for (const Node& node : graph.nodes) {
    std::vector<Wire>& wires = wiring.emplace_back();
    for (const ValueId in : node.inputs) {
      Wire& wire = wires.emplace_back();
      if (in == kNoValue) continue;
      wire.value = graph.values[static_cast<size_t>(in)].name;
      wire.from = links.producer[static_cast<size_t>(in)];
      wire.constant = graph.constant(in) != nullptr;
      const auto given = std::find(graph.inputs.begin(), graph.inputs.end(), in);
      if (!wire.constant && given != graph.inputs.end())
        wire.given = static_cast<int>(given - graph.inputs.begin());
    }
  }
  return wiring;
}

}  // namespace clvet
