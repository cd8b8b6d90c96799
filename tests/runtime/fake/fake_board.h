// The hostile driver in this process, as the device of a report.
#pragma once

#include <filesystem>
#include <string>

#include "probe/report/report.h"
#include "tests/runtime/reports.h"
#include "tests/support.h"

namespace clvet::test {

// A driver of its own for each test: the process keeps what it has loaded. `scenario`: its JSON, in
// which $FAKE_CL_STATE/ and the platform "Boards" with the driver version "1" are this board's.
class FakeBoard {
 public:
  explicit FakeBoard(const std::string& scenario, const std::string& target = "none")
      : target_("FAKE_CL_TARGET", target),
        scenario_("FAKE_CL_SCENARIO", scenario),
        state_("FAKE_CL_STATE", folder_.path()),
        log_("FAKE_CL_LOG", folder_ / "log") {
    std::filesystem::copy_file(FAKE_CL, folder_ / "libfake.so");
  }
  DeviceReport device(const Limits& limits = {}) const {
    DeviceReport device = device_with(limits);
    device.platform = "Boards";
    device.driver = "1";
    device.library = folder_ / "libfake.so";
    device.extensions = {"cl_khr_fp16"};
    return device;
  }
  void put(const std::string& file) const { test::put(folder_ / file, ""); }
  // A line a firing of a rule.
  std::string log() const { return get(folder_ / "log"); }

 private:
  const TempDir folder_;
  const ScopedVariable target_, scenario_, state_, log_;
};

}  // namespace clvet::test
