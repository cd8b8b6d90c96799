// The wiring of a graph.
#pragma once

#include "runtime/graph/graph.h"
#include "runtime/precision/wiring.h"

namespace clvet {

Wiring wiring_of(const Graph& graph);

}  // namespace clvet
