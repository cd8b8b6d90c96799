#include "runtime/plan/network_plan.h"

#include <utility>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/plan/device_choice.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/planner.h"
#include "runtime/plan/subject.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

Result<Graph> for_device(Graph graph) {
  CLVET_RETURN_IF_ERROR(expand_composites(graph));
  return graph;
}

Result<NetworkPlan> take_given(const Graph& graph, const NetworkPlanRequest& request) {
  const ExecutionPlan& given = *request.given;
  CLVET_RETURN_IF_ERROR(check_subject(given.subject, network_subject(graph, request.model)));
  if (given.subject.device.empty()) {
    const std::string where = first_difference(plan_on_host(graph, ""), given);
    if (where.empty()) return NetworkPlan{nullptr, given, "the plan is for the host", graph};
    return fail(ErrorCode::kInvalidArgument,
                "the plan names no device, but it is not a plan for the host: {}", where);
  }
  CLVET_ASSIGN_OR_RETURN(const PlannedDevice found, device_of_plan(request.report, given));
  CLVET_ASSIGN_OR_RETURN(Graph expanded, for_device(graph));
  CLVET_RETURN_IF_ERROR(check_network_plan(expanded, *found.chooser, given));
  return NetworkPlan{found.device, given, {}, std::move(expanded)};
}

Result<NetworkPlan> make_plan(const Graph& graph, const NetworkPlanRequest& request) {
  if (request.device == "host" || !request.report) {
    const char* why = request.device == "host" ? "the host was requested" : "there is no report";
    return NetworkPlan{nullptr, plan_on_host(graph, why), {}, graph};
  }
  CLVET_ASSIGN_OR_RETURN(Graph expanded, for_device(graph));
  CLVET_ASSIGN_OR_RETURN(
      PlannedDevices found,
      plan_on_devices(*request.report, request.device, [&](const VariantChooser& chooser) {
        return plan_network(expanded, chooser, request.words);
      }));
  if (found.rows.empty())
    return NetworkPlan{nullptr, plan_on_host(graph, found.reason), found.reason, graph};
  PlannedDevice& best = found.rows.front();
  return NetworkPlan{best.device, std::move(best.plan), std::move(found.reason),
                     std::move(expanded)};
}

}  // namespace

Result<NetworkPlan> plan_network_on(const Graph& graph, const NetworkPlanRequest& request) {
  if (request.given) return take_given(graph, request);
  CLVET_ASSIGN_OR_RETURN(NetworkPlan made, make_plan(graph, request));
  made.plan.subject = network_subject(graph, request.model);
  set_device(made.device, made.plan.subject);
  return made;
}

}  // namespace clvet
