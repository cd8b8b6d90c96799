// A network run three ways at once, node by node: as it should be, each node alone at low precision
// on the right inputs, and all of it at low precision.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/deviation.h"
#include "runtime/precision/emulation.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/value_range.h"

namespace clvet {

// Of a node's float32 outputs, all together.
struct WatchedNode {
  bool floats = false;    // it has some
  bool integers = false;  // whole numbers that the format cannot tell apart (has_large_integers)
  ValueRange range;       // of the reference
  Deviation isolated, cumulative;
  bool constant = false;  // at low precision all values are alike, though the reference's differ
  std::optional<Blame> blame;  // where `isolated` is out of bounds
  double ms = 0;               // of the reference
};

// What the reference's outputs alone tell of a node: floats, integers, range.
void see_values(std::span<const Tensor> exact, NumberFormat format, WatchedNode& node);

// What one input of the model showed.
struct Seen {
  std::vector<WatchedNode> nodes;  // by node of the model
  std::vector<ValueRange> inputs;  // by value that the caller gives
};

struct Watched {
  Seen seen;
  std::map<std::string, Tensor> reference;  // the outputs in float32
  std::map<std::string, Tensor> low;        // at low precision
  // Before the first node that is out of bounds: cures mostly begin there.
  std::optional<LowRun> before;
};

// Values are let go of when no node reads them any more: it takes twice the memory of a run, and
// that of `before`.
Result<Watched> watch(const Emulation& emulation, const std::map<std::string, Tensor>& inputs);

}  // namespace clvet
