// A network on the host as an engine of lower precision would have it: values are rounded as they
// are stored between nodes, the arithmetic within a node stays float32.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {

class Emulation {
 public:
  // The graph must outlive it, and have known shapes and no constants left to fold.
  Emulation(const Graph& graph, EmulationRules rules);
  const Graph& graph() const { return graph_; }
  const EmulationRules& rules() const { return rules_; }

  // The outputs of one node. `values` by value of the graph; constants are not read from it.
  Result<std::vector<Tensor>> run(size_t node, std::span<const Tensor> values,
                                  const Rounded& rounded) const;
  // The whole network, with inputs as in check_inputs().
  Result<std::map<std::string, Tensor>> run(const std::map<std::string, Tensor>& inputs,
                                            const Raised& raised) const;

 private:
  const Tensor* constant(ValueId id, size_t index, const Rounded& rounded) const;

  const Graph& graph_;
  EmulationRules rules_;
  std::vector<Tensor> rounded_;  // by value: of the constants, where rounding changes the type
};

// Of float32 outputs against the reference's.
Deviation deviation_of(std::span<const Tensor> outputs, std::span<const Tensor> reference);

// A copy whose values are rounded; the tensor itself where nothing changes.
Result<Tensor> rounded(const Tensor& tensor, NumberFormat format);

}  // namespace clvet
