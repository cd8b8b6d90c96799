// On which device of a report a model runs best.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

struct PlannedDevice {
  const DeviceReport* device = nullptr;
  std::shared_ptr<const VariantChooser> chooser;
  ExecutionPlan plan;
};

struct PlannedDevices {
  std::vector<PlannedDevice> rows;  // the one that is predicted to be fastest first
  std::string reason;               // why not, of the last device that has no plan
};

using PlanOnDevice = std::function<Result<ExecutionPlan>(const VariantChooser& chooser)>;

std::shared_ptr<const VariantChooser> chooser_of(const Report& report, const DeviceReport& device,
                                                 std::shared_ptr<const VariantTable> table);

// A plan for each device that `selector` ("auto", or a device selector of docs/interfaces.md) means
// and that can run the model. `report` must outlive the answer. kNoDevice: the selector means
// no device of the report.
Result<PlannedDevices> plan_on_devices(const Report& report, const std::string& selector,
                                       const PlanOnDevice& plan_on_device);

// Why the plan is not on the combination that the report calls best; empty: it is, or the report
// names none.
std::string why_not_best(const DeviceReport& device, const ExecutionPlan& plan);

// The device of `report` (null: there is none) that a plan was made for, by its environment key.
// kInvalidArgument: it is not there.
Result<PlannedDevice> device_of_plan(const Report* report, const ExecutionPlan& plan);

}  // namespace clvet
