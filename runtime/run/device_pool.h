// Devices that are open, each once for all sessions that share the pool. All sessions of a process
// take turns on a device, also those of other pools: inferences side by side are slower than one
// after the other. All calls may come from any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/exec/opened_device.h"
#include "runtime/run/doubt.h"
#include "runtime/run/history.h"

namespace clvet {

class DevicePool {
 public:
  // The device, opened where it is not. `confirmed`: the host has confirmed what will be asked of
  // it; else its page of calls is on the disk before the first one. `fault` is set where the driver
  // failed. Errors: as Device::open.
  Result<std::shared_ptr<OpenedDevice>> open(const DeviceReport& device, const History& history,
                                             bool confirmed, std::optional<Fault>& fault);
  // It failed: who asks next has it opened anew. Those that hold it keep it.
  void forget(const std::shared_ptr<OpenedDevice>& opened);
  // The same, where programs came of saved binaries: when it is opened anew, and by every start to
  // come, they are compiled. False: none did.
  bool forget_binaries(const std::shared_ptr<OpenedDevice>& opened, const std::string& evidence);

 private:
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<OpenedDevice>> devices_;  // by environment key
  std::set<std::string> compiled_;  // environment keys for which no binary is used any more
};

}  // namespace clvet
