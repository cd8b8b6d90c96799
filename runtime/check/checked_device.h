// The device that a model is checked against: one of a report, or one that does all of it right.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/check/check_record.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

struct CheckedDevice {
  const DeviceReport* report = nullptr;  // null: no report
  std::shared_ptr<const VariantChooser> chooser;
  const DeviceFeatures& features() const { return chooser->features(); }

  // Its names and limits.
  DeviceCheck described() const;
};

// Every device of `report`; where there is none (`report` may be null), one without limits.
Result<std::vector<CheckedDevice>> checked_devices(const Report* report);

// What of `report` (may be null) bears on all that is said of devices; empty: nothing.
std::vector<std::string> notes_on(const Report* report);

// As if each kernel that such a device takes had been tried and was right.
DeviceEvidence all_right(const VariantTable& table, const DeviceFeatures& features);

// Where a kernel that the model needs was not tried.
inline constexpr const char* kAdviceToProbe =
    "run 'clvet probe' on the report's machine: some kernels that the model needs were not tried "
    "yet";

}  // namespace clvet
