// Verdicts of cases -> statuses of combinations -> the best combination of a device. Pure.
#pragma once

#include <vector>

#include "probe/report/report.h"

namespace clvet {

// Statuses of the combinations of a device and its best one, from its verdicts; those of kernels
// that are never planned do not count. The best is the fastest whose cases are all right, with
// those of the ops without weights; where there is none, the fastest of which nothing failed so far
// and each op has a right case. Pure.
void summarise_device(const std::vector<VerdictReport>& verdicts, DeviceReport& device);

}  // namespace clvet
