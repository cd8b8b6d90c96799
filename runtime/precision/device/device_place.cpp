#include "runtime/precision/device/device_place.h"

#include <cstddef>
#include <memory>
#include <utility>

#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "probe/report/tombstones.h"
#include "runtime/exec/device.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/subject.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"
#include "runtime/precision/device/rounded_graph.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/number_format.h"
#include "runtime/precision/rounding.h"
#include "runtime/run/history.h"

namespace clvet {

// A driver may have no half arithmetic: the planner takes kernels of a higher precision then.
Status check_precision(const PlannedDevice& chosen, Precision wanted) {
  for (const PlanPhase& phase : chosen.plan.phases) {
    for (const PlanStep& step : phase.steps) {
      const TableRow* row = chosen.chooser->table().find(step.variant);
      if (step.node >= 0 && row && row->variant.precision == wanted) return {};
    }
  }
  return fail(ErrorCode::kUnavailable,
              "no kernel of precision {} serves this model on {}: choose another --precision or "
              "--device",
              to_string(wanted), chosen.device->name);
}

Result<std::unique_ptr<DevicePlace>> DevicePlace::open(const Graph& graph, Policy policy,
                                                       const DeviceTarget& target) {
  std::unique_ptr<DevicePlace> place(new DevicePlace(graph, policy, target));
  const Raised nothing(graph.nodes.size(), false);
  CLVET_ASSIGN_OR_RETURN(const Graph stored, place->stored(nothing));
  CLVET_ASSIGN_OR_RETURN(
      PlannedDevices found,
      plan_on_devices(*target.report, target.device, [&](const VariantChooser& chooser) {
        return plan_network(stored, chooser, place->words_of(nothing));
      }));
  if (found.rows.empty()) {
    return fail(ErrorCode::kUnavailable, "no device runs the model at precision {}: {}",
                to_string(target.precision), found.reason);
  }
  place->chosen_ = std::move(found.rows.front());
  CLVET_RETURN_IF_ERROR(check_precision(place->chosen_, target.precision));
  place->opened_ = std::make_shared<OpenedDevice>(History(target.state_dir).flight(true));
  CLVET_ASSIGN_OR_RETURN(place->opened_->device,
                         Device::open(place->device(), place->opened_->flight));
  return place;
}

Result<Graph> DevicePlace::stored(const Raised& raised) const {
  if (policy_ == Policy::kEngine) return graph_;
  return with_rounded_constants(graph_, NumberFormat::kHalf, raised);
}

PlanOverrides DevicePlace::words_of(const Raised& raised) const {
  PlanOverrides words;
  words.precision = target_.precision;
  for (size_t n = 0; n < raised.size(); ++n)
    if (raised[n]) words.raised.insert(graph_.nodes[n].name);
  return words;
}

Result<ExecutionPlan> DevicePlace::plan(const Graph& graph, const PlanOverrides& words) const {
  CLVET_ASSIGN_OR_RETURN(ExecutionPlan plan, plan_network(graph, *chosen_.chooser, words));
  plan.subject = network_subject(graph, target_.model_key);
  set_device(chosen_.device, plan.subject);
  return plan;
}

Result<ExecutionPlan> DevicePlace::plan(const Raised& raised) const {
  CLVET_ASSIGN_OR_RETURN(const Graph graph, stored(raised));
  return plan(graph, words_of(raised));
}

Result<Session*> DevicePlace::ready(Graph graph, const PlanOverrides& words) {
  session_.reset();
  held_.reset();
  CLVET_ASSIGN_OR_RETURN(ExecutionPlan made, plan(graph, words));
  CLVET_ASSIGN_OR_RETURN(session_,
                         Session::create(std::move(graph), std::move(made), opened_->device.get()));
  return &*session_;
}

Result<Session*> DevicePlace::session(const Raised& raised) {
  if (session_ && held_ == raised) return &*session_;
  CLVET_ASSIGN_OR_RETURN(Graph graph, stored(raised));
  CLVET_ASSIGN_OR_RETURN(Session * made, ready(std::move(graph), words_of(raised)));
  held_ = raised;
  return made;
}

Result<Session*> DevicePlace::session(const PlanOverrides& words) {
  const Raised exact(graph_.nodes.size(), words.precision == Precision::kHigh);
  CLVET_ASSIGN_OR_RETURN(Graph graph, stored(exact));
  return ready(std::move(graph), words);
}

Status DevicePlace::avoid(const std::string& variant, const std::string& why) {
  const Tombstone tombstone =
      tombstone_of(device().environment_key, {.variant = variant, .evidence = why});
  if (!changed_) {
    const auto index = chosen_.device - target_.report->devices.data();
    changed_ = *target_.report;
    chosen_.device = &changed_->devices[static_cast<size_t>(index)];
  }
  bury({tombstone}, *changed_);
  CLVET_ASSIGN_OR_RETURN(const auto table, VariantTable::embedded());
  chosen_.chooser = chooser_of(*changed_, *chosen_.device, table);
  session_.reset();
  held_.reset();
  return History(target_.state_dir).bury(tombstone);
}

}  // namespace clvet
