// The plan of a network, made or given, and the device that it is for.
#pragma once

#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/plan.h"

namespace clvet {

struct NetworkPlanRequest {
  const Report* report = nullptr;  // null: the host
  std::string device = "auto";     // "auto", "host" or a selector of the report's devices
  PlanOverrides words;
  std::string model;                     // SHA-256 of the file; needed for the plan's subject
  const ExecutionPlan* given = nullptr;  // this plan is checked, and no other is made
};

struct NetworkPlan {
  const DeviceReport* device = nullptr;  // null: the host
  ExecutionPlan plan;
  std::string reason;  // why the host, where a device was hoped for
  Graph graph;         // what the plan is of: for a device with expand_composites()
};

// Of several devices the one that is predicted to be fastest. kNoDevice: the selector means
// no device of the report. kInvalidArgument: `given` is not for this model, its inputs, these
// kernels or a device of the report, or the report does not vouch for it.
Result<NetworkPlan> plan_network_on(const Graph& graph, const NetworkPlanRequest& request);

}  // namespace clvet
