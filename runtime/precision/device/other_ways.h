// Whether another precision or storage of the device is right where one is not.
#pragma once

#include <vector>

#include "base/result.h"
#include "runtime/precision/device/device_network.h"
#include "runtime/precision/diagnosis.h"

namespace clvet {

// On the first wrong inputs of `found`; those that the device can run.
Result<std::vector<OtherWay>> try_other_ways(DeviceNetwork& network,
                                             const PrecisionDiagnosis& found);

}  // namespace clvet
