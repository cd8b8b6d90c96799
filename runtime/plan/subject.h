// What a plan is for, and whether it is for what is at hand.
#pragma once

#include <string>

#include "base/result.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/plan/plan.h"

namespace clvet {

// Of a network with these inputs (specialise() it first) and of a language model; `model` is the
// SHA-256 of the file.
PlanSubject network_subject(const Graph& graph, const std::string& model);
PlanSubject language_subject(const std::string& model);
// The host where `device` is null.
void set_device(const DeviceReport* device, PlanSubject& subject);

// kInvalidArgument: the plan is for another model, other inputs or other kernels; the message says
// which, and what to do. The device is another question (device_of_plan).
Status check_subject(const PlanSubject& planned, const PlanSubject& here);

}  // namespace clvet
