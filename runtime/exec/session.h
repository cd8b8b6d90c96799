// A plan made ready to run: programs built, constants packed and uploaded, arguments set.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/layout.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/launch.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

class Session {
 public:
  // `device` may be null for a plan without device steps; it must outlive the session. The graph is
  // the one that was planned (check_network_plan() says so of a plan that comes from elsewhere).
  static Result<Session> create(Graph graph, ExecutionPlan plan, Device* device);

  // Outputs by name. Inputs must have the planned shapes. `node_ms`, where given, gets one figure a
  // node, measured by waiting for each; without it nothing waits before the outputs are read.
  // kDeadlineExceeded where a step would begin after `deadline` (monotonic_seconds).
  Result<std::map<std::string, Tensor>> run(
      const std::map<std::string, Tensor>& inputs, std::vector<double>* node_ms = nullptr,
      double deadline = std::numeric_limits<double>::infinity());

  const ExecutionPlan& plan() const { return plan_; }
  const Graph& graph() const { return graph_; }

 private:
  struct Memory {
    ClMem own;
    cl_mem object = nullptr;
  };
  Session(Graph graph, ExecutionPlan plan, Device* device)
      : graph_(std::move(graph)), plan_(std::move(plan)), device_(device) {}
  Status allocate();
  struct ReadyStep {
    ClKernel kernel;
    KernelCall call;
  };
  Status prepare_steps();
  Status prepare(const PlanStep& step, const VariantTable& table, ReadyStep& ready);
  // The values of a constant argument, packed as the variant reads them.
  Result<cl_mem> constant(const PlanStep& step, const Launch& launch, const CallArg& arg);
  const PlanPhase& phase() const { return plan_.phases.front(); }
  Status run_step(size_t index, std::vector<Tensor>& values);
  Status upload(const DeviceTensor& tensor, cl_mem object, const Tensor& value);
  Status upload_indices(const DeviceTensor& tensor, cl_mem object, const Tensor& value);
  Status download(const DeviceTensor& tensor, cl_mem object, ValueId id, Tensor& value);
  Status run_host(const Node& node, std::vector<Tensor>& values);

  Graph graph_;
  ExecutionPlan plan_;
  Device* device_ = nullptr;
  ProgramGuard guard_;
  std::vector<ClMem> slots_;
  std::vector<Memory> tensors_;
  std::vector<ClMem> constants_;
  std::vector<ReadyStep> ready_;    // by step; empty for those that are no kernel
  std::vector<ValueId> value_ids_;  // of each tensor of the plan
  Bytes staging_;
};

}  // namespace clvet
