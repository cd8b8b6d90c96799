// Which nodes create the error of a network at low precision, and which only carry it.
#pragma once

#include "runtime/graph/graph.h"
#include "runtime/precision/blame.h"
#include "runtime/precision/watch.h"

#include <vector>

namespace clvet {

// A suspected origin, from what each node does alone.
struct Suspicion {
  int node = -1;           // -1: a value that the caller gives
  Blame blame;             // of the first value that is not held as it should be
  double part = 0;         // of the error, the largest
  std::vector<int> shows;  // nodes that are out of bounds because of it, in order
};

// From one watched run. The order is that of the nodes.
std::vector<Suspicion> suspicions_of(const Graph& graph, const Watched& watched);

}  // namespace clvet
