#pragma once

#include <cstddef>
#include <string>

namespace clvet {

// How a worker reaches a device.
struct DeviceRoute {
  std::string library;  // candidate name
  size_t platform = 0, device = 0;
};

}  // namespace clvet
