// What a record says of the nodes of a network: where each runs, why, and how long it takes.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"
#include "runtime/run/run_record.h"

namespace clvet {

// Nodes, combination, refusals and fallbacks of a plan of one phase; no times.
void describe_plan(const ExecutionPlan& plan, RunRecord& record);

// The usual time of each node and step over a few runs: median or, on a processor, which other
// programs share, what disturbances leave.
Result<NodeTimes> usual_times(Session& session, const std::map<std::string, Tensor>& inputs,
                              bool on_processor);

// Each node's time over a few runs, in the way that its device's report has launches. The record
// describes the session's plan.
Status time_nodes(Session& session, const std::map<std::string, Tensor>& inputs, bool on_processor,
                  RunRecord& record);

}  // namespace clvet
