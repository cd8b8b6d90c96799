#include "runtime/check/checked_device.h"

#include <memory>
#include <vector>

#include "base/result.h"
#include "kernels/catalog.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/check/check_record.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

CheckedDevice ideal_device(const std::shared_ptr<const VariantTable>& table) {
  const DeviceFeatures features = {.device_class = "gpu",
                                   .fp16 = true,
                                   .images = true,
                                   .image_width = 16384,
                                   .image_height = 16384,
                                   .group_items = 1024,
                                   .names = {"fp16", "subgroups", "dot8"}};
  return {nullptr,
          std::make_shared<const VariantChooser>(table, all_right(*table, features), features)};
}

}  // namespace

DeviceCheck CheckedDevice::described() const {
  DeviceCheck check;
  check.id = report ? report->id : "";
  check.name = report ? report->name : "any device that runs all kernels correctly";
  check.memory = features().memory;
  check.largest_allocation = features().largest_buffer;
  check.image_width = features().images ? features().image_width : 0;
  check.image_height = features().images ? features().image_height : 0;
  return check;
}

Result<std::vector<CheckedDevice>> checked_devices(const Report* report) {
  CLVET_ASSIGN_OR_RETURN(const auto table, VariantTable::embedded());
  std::vector<CheckedDevice> devices;
  if (!report || report->devices.empty()) {
    devices.push_back(ideal_device(table));
    return devices;
  }
  for (const DeviceReport& device : report->devices) {
    devices.push_back({&device, chooser_of(*report, device, table)});
  }
  return devices;
}

std::vector<std::string> notes_on(const Report* report) {
  if (!report || report->devices.empty()) {
    return {
        "clvet has no report of a device, so it assumes that all kernels work; "
        "run 'clvet probe' to test them"};
  }
  if (report->kernel_set == kernel_set()) return {};
  return {
      "the report was made with other kernels than this program has; kernels that changed count as "
      "not tried; 'clvet probe' tries them"};
}

DeviceEvidence all_right(const VariantTable& table, const DeviceFeatures& features) {
  DeviceEvidence evidence;
  for (const TableRow& row : table.rows()) {
    if (!unsupported_reason(row.variant, features).empty()) continue;
    evidence.variants[row.program->variant_key].passed = 1;
  }
  return evidence;
}

}  // namespace clvet
