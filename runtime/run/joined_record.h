// The record of a network that ran in parts.
#pragma once

#include "runtime/run/run_record.h"

namespace clvet {

// Of both parts, `rest` behind `first`. Nodes and fallbacks are those of both, times and programs
// their sums. The combination is that of the part with more nodes on a device.
RunRecord joined(RunRecord first, const RunRecord& rest);

}  // namespace clvet
