#include "probe/host/current_report.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/elf.h"
#include "kernels/catalog.h"
#include "probe/host/environment.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

// As the driver of a device, this program's own file.
DeviceReport standing_device() {
  DeviceReport device;
  device.id = "d0";
  device.library = std::filesystem::canonical("/proc/self/exe").string();
  device.objects = {{device.library, *file_identity(device.library),
                     std::filesystem::file_size(device.library), -1}};
  device.variables = *driver_variables();
  device.environment_key = environment_key(device, kernel_driver_versions());
  return device;
}

Report report_with(DeviceReport other) {
  Report report;
  report.kernel_set = kernel_set();
  other.id = "d1";
  report.devices = {standing_device(), other};
  return report;
}

TEST(ReportIsCurrent, WhereAProbesBudgetDidNotReachADevice) {
  const Report report = report_with({});
  EXPECT_TRUE(report_is_current(report, false));
  EXPECT_FALSE(report_is_current(report, true)) << "it does not hold all of its tier";
}

TEST(ReportIsCurrent, NotWhereItBelievesADeviceWhoseDriverItDoesNotKnow) {
  Report report = report_with({});
  report.verdicts.push_back({.device = "d1", .verdict = Verdict::kPass});
  EXPECT_FALSE(report_is_current(report, false));
}

TEST(ReportIsCurrent, NotWhereADriverIsAnotherNow) {
  DeviceReport other = standing_device();
  other.driver = "2";
  EXPECT_FALSE(report_is_current(report_with(other), false));
}

TEST(ReportIsCurrent, NotWhereNoDeviceWasReached) {
  Report report = report_with({});
  report.devices.erase(report.devices.begin());
  EXPECT_FALSE(report_is_current(report, false));
  report.devices.clear();
  EXPECT_FALSE(report_is_current(report, false));
}

}  // namespace
}  // namespace clvet
