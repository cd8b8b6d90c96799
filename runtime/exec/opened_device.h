// A device with what was opened of its driver, which may die when it is released.
#pragma once

#include <memory>

#include "runtime/exec/device.h"
#include "runtime/exec/flight.h"

namespace clvet {

struct OpenedDevice {
  Flight flight;
  std::unique_ptr<Device> device;
};

}  // namespace clvet
