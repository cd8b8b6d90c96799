// A device with what was opened of its driver, which may die when it is released.
#pragma once

#include <memory>
#include <mutex>
#include <utility>

#include "runtime/exec/device.h"
#include "runtime/exec/flight.h"

namespace clvet {

struct OpenedDevice {
  explicit OpenedDevice(Flight calls) : flight(std::move(calls)) {}
  Flight flight;
  std::unique_ptr<Device> device;
  // Whoever asks something of the device holds it, from the first call of an inference to its end.
  // Never null.
  std::shared_ptr<std::mutex> turn = std::make_shared<std::mutex>();
};

}  // namespace clvet
