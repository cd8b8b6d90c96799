#include "runtime/run/device_pool.h"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/exec/device.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/programs.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"

namespace clvet {
namespace {

// One for each device, by environment key.
std::shared_ptr<std::mutex> turn_on(const std::string& environment_key) {
  static std::mutex mutex;
  static auto& turns = *new std::map<std::string, std::weak_ptr<std::mutex>>();
  const std::lock_guard lock(mutex);
  std::weak_ptr<std::mutex>& known = turns[environment_key];
  if (auto turn = known.lock()) return turn;
  auto turn = std::make_shared<std::mutex>();
  known = turn;
  return turn;
}

}  // namespace

Result<std::shared_ptr<OpenedDevice>> DevicePool::open(const DeviceReport& device,
                                                       const History& history, bool confirmed,
                                                       std::optional<Fault>& fault) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<OpenedDevice>& known = devices_[device.environment_key];
  if (known) {
    if (!confirmed) known->flight.sync();
    return known;
  }
  auto opened = std::make_shared<OpenedDevice>(history.flight(!confirmed));
  auto ready = Device::open(device, opened->flight);
  if (!ready) {
    if (ready.error().code == ErrorCode::kDeviceError)
      fault = fault_of(opened->flight.read(), ready.error());
    return tl::unexpected(ready.error());
  }
  opened->device = std::move(*ready);
  if (!compiled_.contains(device.environment_key))
    opened->device->programs().keep_in(history.programs(device));
  opened->turn = turn_on(device.environment_key);
  known = opened;
  return opened;
}

void DevicePool::forget(const std::shared_ptr<OpenedDevice>& opened) {
  const std::lock_guard lock(mutex_);
  const auto row = std::ranges::find(devices_, opened, [](const auto& one) { return one.second; });
  if (row != devices_.end()) devices_.erase(row);
}

bool DevicePool::forget_binaries(const std::shared_ptr<OpenedDevice>& opened,
                                 const std::string& evidence) {
  Programs& programs = opened->device->programs();
  if (programs.loaded() == 0) return false;
  programs.distrust_all(
      fmt::format("a kernel that came of a saved program failed; programs are compiled at each "
                  "start from now on: {}",
                  evidence));
  const std::lock_guard lock(mutex_);
  const auto row = std::ranges::find(devices_, opened, [](const auto& one) { return one.second; });
  if (row == devices_.end()) return true;
  compiled_.insert(row->first);
  devices_.erase(row);
  return true;
}

}  // namespace clvet
