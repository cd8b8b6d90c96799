#include "runtime/precision/device/rounded_graph.h"

#include <cstddef>
#include <map>
#include <string>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {

Result<Graph> with_rounded_constants(const Graph& graph, NumberFormat format,
                                     const Raised& raised) {
  Graph copy = graph;
  for (Value& value : copy.values) {
    if (!value.constant) continue;
    CLVET_ASSIGN_OR_RETURN(value.constant, rounded(*value.constant, format));
  }
  std::map<ValueId, ValueId> exact;
  for (size_t n = 0; n < copy.nodes.size(); ++n) {
    if (!raised[n]) continue;
    for (ValueId& id : copy.nodes[n].inputs) {
      const Tensor* constant = graph.constant(id);
      if (!constant || constant->dtype() != DType::kF32) continue;
      const auto [found, added] = exact.try_emplace(id, kNoValue);
      if (added) {
        const std::string& name = graph.values[static_cast<size_t>(id)].name;
        found->second = copy.add_constant(copy.unique_name(name + "_exact"), *constant);
      }
      id = found->second;
    }
  }
  return copy;
}

}  // namespace clvet
