#include "probe/host/current_report.h"

#include <algorithm>

#include "kernels/catalog.h"
#include "probe/host/environment.h"
#include "probe/report/report.h"

namespace clvet {
namespace {

// A probe's budget may end before a device is opened: then the report knows nothing of it that
// could be out of date.
bool was_reached(const Report& report, const DeviceReport& device) {
  const auto passed = [&](const VerdictReport& row) {
    return row.device == device.id && row.verdict == Verdict::kPass;
  };
  return !device.objects.empty() || std::ranges::any_of(report.verdicts, passed);
}

}  // namespace

bool report_is_current(const Report& report, bool whole) {
  const auto stands = [&](const DeviceReport& device) {
    return was_reached(report, device) ? still_stands(device) : !whole;
  };
  return (report.complete || !whole) && report.kernel_set == kernel_set() &&
         std::ranges::any_of(report.devices,
                             [&](const DeviceReport& row) { return was_reached(report, row); }) &&
         std::ranges::all_of(report.devices, stands);
}

}  // namespace clvet
