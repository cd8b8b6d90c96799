// A node of a graph seen alone.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {

class GraphSuspect : public Suspect {
 public:
  // `values` by value of the graph, the reference's; `exact`: the node's outputs from them. All
  // must outlive it.
  GraphSuspect(const Emulation& emulation, size_t node, std::span<const Tensor> values,
               std::span<const Tensor> exact);

  NumberFormat format() const override { return emulation_.rules().format; }
  const std::vector<SeenValue>& inputs() const override { return inputs_; }
  const std::vector<SeenValue>& outputs() const override { return outputs_; }
  bool adds() const override;
  Result<double> part(const Rounded& rounded) const override;
  Result<double> part_of_small(int input) const override;

 private:
  const Node& node() const { return emulation_.graph().nodes[index_]; }

  const Emulation& emulation_;
  size_t index_;
  std::span<const Tensor> values_, exact_;
  std::vector<SeenValue> inputs_, outputs_;
};

}  // namespace clvet
