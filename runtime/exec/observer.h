// Who watches the nodes of a network while a session runs them.
#pragma once

#include <cstddef>
#include <functional>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// Nodes come in their order; those that only see a tensor in another shape do not come.
struct Observer {
  // What node `node` is to read as `value`, instead of what was computed; null: what was computed.
  // Empty: always that.
  std::function<const Tensor*(size_t node, ValueId value)> reads;
  // What node `node` made of it, as it is stored.
  std::function<Status(size_t node, ValueId value, const Tensor& made)> wrote;
};

}  // namespace clvet
