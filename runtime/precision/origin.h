// Which nodes create the error of a model at low precision, and which only carry it.
#pragma once

#include <vector>

#include "runtime/precision/blame.h"
#include "runtime/precision/watch.h"
#include "runtime/precision/wiring.h"

namespace clvet {

// A suspected origin, from what each node does alone.
struct Suspicion {
  int node = -1;           // -1: a value that the caller gives
  Blame blame;             // of the first value that is not held as it should be
  double part = 0;         // of the error, the largest
  std::vector<int> shows;  // nodes that are out of bounds because of it, in order
};

// From one watched run. The order is that of the nodes.
std::vector<Suspicion> suspicions_of(const Wiring& wiring, const Seen& seen);

}  // namespace clvet
