// Operators of sets below 7, whose attributes said what later follows from shapes.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "runtime/graph/graph.h"

namespace clvet {

// Makes of a node what it is in operator set 7, where that is only a matter of attributes; others
// stay as they are. The axis of input 0 at which input 1 begins, where shapes alone would say
// another one (AlignedToAxis). kUnsupported: a node that trains.
Result<std::optional<int64_t>> modernise(Node& node);

}  // namespace clvet
