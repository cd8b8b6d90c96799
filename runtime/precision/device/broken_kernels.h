// Kernels that compute something else than the host where nothing is rounded to half.
#pragma once

#include <vector>

#include "base/result.h"
#include "runtime/precision/device/device_network.h"
#include "runtime/precision/diagnose_network.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

// Each node alone, at high, on the first input. What is wrong there is not used any more: another
// kernel takes its place, or the host.
Result<std::vector<BrokenKernel>> avoid_broken_kernels(DeviceNetwork& network,
                                                       const CalibrationInput& input);

}  // namespace clvet
