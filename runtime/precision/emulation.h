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
#include "runtime/graph/live_values.h"
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
  // `stored`, by value: which of them are rounded already; empty: none.
  Result<std::vector<Tensor>> run(size_t node, std::span<const Tensor> values,
                                  const Rounded& rounded,
                                  const std::vector<bool>& stored = {}) const;

 private:
  const Tensor* constant(ValueId id, size_t index, const Rounded& rounded) const;

  const Graph& graph_;
  EmulationRules rules_;
  std::vector<Tensor> rounded_;  // by value: of the constants, where rounding changes the type
};

// A network at low precision on its way from node to node. A copy shares the values.
class LowRun {
 public:
  // Inputs as in check_inputs(). The emulation must outlive it.
  LowRun(const Emulation& emulation, const std::map<std::string, Tensor>& inputs);

  size_t next() const { return next_; }
  bool done() const { return next_ == emulation_.graph().nodes.size(); }
  // Runs the next node, and gives its outputs. There must be one.
  Result<std::vector<Tensor>> step(bool raised);
  // Of the network, once it is done.
  std::map<std::string, Tensor> outputs() const { return values_.outputs(); }

 private:
  const Emulation& emulation_;
  LiveValues values_;
  std::vector<bool> stored_;  // by value: it is rounded already
  size_t next_ = 0;
};

// Of float32 outputs against the reference's.
Deviation deviation_of(std::span<const Tensor> outputs, std::span<const Tensor> reference);

// A copy whose values are rounded; the tensor itself where nothing changes.
Result<Tensor> rounded(const Tensor& tensor, NumberFormat format);

}  // namespace clvet
