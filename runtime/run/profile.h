// Where the time of a network's run goes: its steps, each beside the least that the device can do
// it in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/exec/session.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.h"

namespace clvet {

struct ProfiledStep {
  StepKind kind = StepKind::kHost;
  std::string name;     // of the node; of a transfer the value; empty: a copy in another order
  std::string op;       // of ONNX; where no node is, of the kernels contract; empty: a transfer
  std::string variant;  // of a kernel
  double ms = 0;        // median
  double flops = 0, bytes = 0;  // of a kernel, as work_of() counts them; of a transfer the bytes
  // Roofline: the larger of `flops` at the rate of the device's fastest kernel and `bytes` at the
  // rate of its memory, both as the report has them. 0: the report has neither, or it is no kernel.
  double bound_ms = 0;
};

using Profile = std::vector<ProfiledStep>;  // in the order in which they run

// Over a few runs. `cost` is of the session's device; `on_processor` as NodeTimes::piped.
Result<Profile> profile_of(Session& session, const std::map<std::string, Tensor>& inputs,
                           bool on_processor, const CostModel& cost);

// For chrome://tracing and https://ui.perfetto.dev: the steps one behind the other, each in the row
// of who does it (device, host, transfers). `label` names the model.
std::string chrome_trace(const Profile& profile, const std::string& label);

}  // namespace clvet
