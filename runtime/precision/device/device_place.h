// A network on one device of a report, at a low precision, with any of its nodes raised.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "kernels/combination.h"
#include "probe/report/report.h"
#include "runtime/exec/opened_device.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/precision/diagnosis.h"
#include "runtime/precision/rounding.h"

namespace clvet {

struct DeviceTarget {
  const Report* report = nullptr;
  std::string device = "auto";            // "auto" or a selector of the report's devices
  Precision precision = Precision::kLow;  // or normal: half is stored, float32 computed with
  std::string model_key;                  // as read_keyed_onnx() gives it
  std::string state_dir;                  // where a death within the driver is noted
};

// kUnavailable: no kernel of the plan has the precision that was wanted.
Status check_precision(const PlannedDevice& chosen, Precision wanted);

class DevicePlace {
 public:
  // `graph`, as it is diagnosed, and the target must outlive it. kNoDevice: the report has no such
  // device; kUnavailable: none can run the network at that precision.
  static Result<std::unique_ptr<DevicePlace>> open(const Graph& graph, Policy policy,
                                                   const DeviceTarget& target);

  const DeviceReport& device() const { return *chosen_.device; }
  std::shared_ptr<OpenedDevice> opened() const { return opened_; }

  // At the target's precision, with `raised` at high.
  Result<ExecutionPlan> plan(const Raised& raised) const;
  // Ready to run; it lives until the next one is asked for.
  Result<Session*> session(const Raised& raised);
  // As the words say; by the policy kNaive, constants are rounded below high.
  Result<Session*> session(const PlanOverrides& words);

  // The kernel variant is not used any more, here and in starts to come.
  Status avoid(const std::string& variant, const std::string& why);

 private:
  DevicePlace(const Graph& graph, Policy policy, const DeviceTarget& target)
      : graph_(graph), policy_(policy), target_(target) {}
  Result<Graph> stored(const Raised& raised) const;
  PlanOverrides words_of(const Raised& raised) const;
  Result<ExecutionPlan> plan(const Graph& graph, const PlanOverrides& words) const;
  Result<Session*> ready(Graph graph, const PlanOverrides& words);

  const Graph& graph_;
  Policy policy_;
  const DeviceTarget& target_;
  std::optional<Report> changed_;  // the target's, once there is more to say
  PlannedDevice chosen_;
  std::shared_ptr<OpenedDevice> opened_;
  std::optional<Session> session_;
  std::optional<Raised> held_;  // the session's, where it is one with raised nodes
};

}  // namespace clvet
