// A network whose constants are rounded, as engines have it that store all of them as half.
#pragma once

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"

namespace clvet {

// The same nodes and values, in the same order. Each float32 constant is rounded, but what raised
// nodes read: they read exact copies, which come behind all other values.
Result<Graph> with_rounded_constants(const Graph& graph, NumberFormat format, const Raised& raised);

}  // namespace clvet
