// Which of a report's devices a user means. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"

namespace clvet {

// True where the device matches a selector: index among the report's devices, "platform:index" (the
// index counts the platform's devices) or a part of the name.
bool device_matches(const std::vector<DeviceReport>& devices, size_t index,
                    const std::string& selector);

// The error of a selector that matches none of them (kNoDevice): it lists those that there are.
tl::unexpected<Error> no_such_device(const std::vector<DeviceReport>& devices,
                                     const std::string& selector);

}  // namespace clvet
