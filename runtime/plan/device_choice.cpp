#include "runtime/plan/device_choice.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/device_features.h"
#include "probe/report/device_selector.h"
#include "probe/report/report.h"
#include "runtime/plan/evidence.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"

namespace clvet {
namespace {

Result<std::vector<const DeviceReport*>> selected_devices(const Report& report,
                                                          const std::string& selector) {
  std::vector<const DeviceReport*> selected;
  for (size_t i = 0; i < report.devices.size(); ++i) {
    if (selector != "auto" && !device_matches(report.devices, i, selector)) continue;
    selected.push_back(&report.devices[i]);
  }
  if (!selected.empty() || selector == "auto") return selected;
  return no_such_device(report.devices, selector);
}

}  // namespace

std::shared_ptr<const VariantChooser> chooser_of(const Report& report, const DeviceReport& device,
                                                 std::shared_ptr<const VariantTable> table) {
  DeviceEvidence evidence = evidence_of(report, device, *table);
  return std::make_shared<const VariantChooser>(std::move(table), std::move(evidence),
                                                features_of(device));
}

Result<PlannedDevices> plan_on_devices(const Report& report, const std::string& selector,
                                       const PlanOnDevice& plan_on_device) {
  CLVET_ASSIGN_OR_RETURN(const auto table, VariantTable::embedded());
  CLVET_ASSIGN_OR_RETURN(const auto devices, selected_devices(report, selector));
  PlannedDevices found;
  found.reason = "the report has no device";
  for (const DeviceReport* device : devices) {
    auto chooser = chooser_of(report, *device, table);
    auto plan = plan_on_device(*chooser);
    if (plan) {
      found.rows.push_back({device, std::move(chooser), std::move(*plan)});
    } else if (cannot_run_here(plan.error().code)) {
      found.reason = fmt::format("{}: {}", device->name, plan.error().message);
    } else {
      return tl::unexpected(plan.error());
    }
  }
  std::stable_sort(
      found.rows.begin(), found.rows.end(),
      [](const PlannedDevice& a, const PlannedDevice& b) { return a.plan.ms() < b.plan.ms(); });
  return found;
}

std::string why_not_best(const DeviceReport& device, const ExecutionPlan& plan) {
  if (!device.best) return {};
  const Combination& best = device.best->combination;
  const auto same_memory = [&](const Combination& one) { return one.memory == best.memory; };
  const bool tried_memory =
      same_memory(plan.combination) ||
      std::any_of(plan.refused.begin(), plan.refused.end(),
                  [&](const RefusedCombination& row) { return same_memory(row.combination); });
  const auto like_best = [&](const Combination& one) {
    return one.precision == best.precision && one.activations == best.activations &&
           (!best.memory || !tried_memory || same_memory(one));
  };
  if (like_best(plan.combination)) return {};
  const auto refused =
      std::find_if(plan.refused.begin(), plan.refused.end(),
                   [&](const RefusedCombination& row) { return like_best(row.combination); });
  return fmt::format("the report's best combination {} was not used for this model: {}",
                     to_string(best),
                     refused == plan.refused.end() ? "other options were given" : refused->reason);
}

Result<PlannedDevice> device_of_plan(const Report* report, const ExecutionPlan& plan) {
  CLVET_ASSIGN_OR_RETURN(const auto table, VariantTable::embedded());
  bool named = false;
  static const std::vector<DeviceReport> kNone;
  const auto& devices = report ? report->devices : kNone;
  for (const DeviceReport& device : devices) {
    if (device.environment_key == plan.subject.environment_key) {
      return PlannedDevice{&device, chooser_of(*report, device, table), plan};
    }
    named = named || device.name == plan.subject.device;
  }
  if (named) {
    return fail(ErrorCode::kInvalidArgument,
                "the plan is for another driver of {} (environment key {:.12}...); make a new plan "
                "with 'clvet plan'",
                plan.subject.device, plan.subject.environment_key);
  }
  return fail(ErrorCode::kInvalidArgument,
              "the plan is for {} (environment key {:.12}...), which this report does not have; "
              "make a new plan with 'clvet plan'",
              plan.subject.device, plan.subject.environment_key);
}

}  // namespace clvet
