// Verdicts of cases -> statuses of combinations -> the best combination of a device. Pure.
#pragma once

#include <vector>

#include "probe/report/report.h"

namespace clvet {

// Statuses of the combinations of a device and its best one, from its verdicts; those of kernels
// that are never planned do not count. Pure.
void summarise_device(const std::vector<VerdictReport>& verdicts, DeviceReport& device);

}  // namespace clvet
