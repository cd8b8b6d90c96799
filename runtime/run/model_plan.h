// How the model of a file runs on a device of a report. Nothing runs, and no driver is loaded.
#pragma once

#include <map>
#include <string>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/network_plan.h"
#include "runtime/plan/plan.h"

namespace clvet {

// `graph` as read from the file. Extents of inputs are those of `values`, else of `shapes`.
// kInvalidArgument: they do not fit the model, or leave some open. Else as plan_network_on().
Result<ExecutionPlan> plan_onnx(Graph graph, std::map<std::string, Shape> shapes,
                                const std::map<std::string, Tensor>& values,
                                const NetworkPlanRequest& request);

// `path`: a GGUF file. kInvalidArgument: there is no report; the host needs no plan. kUnavailable:
// no device can run it.
Result<ExecutionPlan> plan_gguf(const std::string& path, const NetworkPlanRequest& request);

// The plan's file, which says all of it: read again, it is the same plan.
Result<std::string> plan_document(const ExecutionPlan& plan);

}  // namespace clvet
