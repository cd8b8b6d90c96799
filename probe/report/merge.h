// What an earlier report still knows, added to a new one that did not get as far. Pure.
#pragma once

#include <functional>

#include "probe/report/report.h"

namespace clvet {

// Whether what a report says of a device still stands (same_environment).
using DeviceStands = std::function<bool(const DeviceReport& device)>;

// Fills `found` from `known`, of the same kernels and both of a whole tier: verdicts that are
// missing there, and where `narrowed` (the probe was to look at a part of the machine, or was
// stopped) the devices that it did not reach, as far as they stand. True where anything was added.
bool add_known(const Report& known, bool narrowed, const DeviceStands& stands, Report& found);

}  // namespace clvet
