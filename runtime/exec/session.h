// A plan made ready to run: programs built, constants packed and uploaded, arguments set.
#pragma once

#include <atomic>
#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/cl/handles.h"
#include "runtime/exec/device.h"
#include "runtime/exec/observer.h"
#include "runtime/exec/shared_input.h"
#include "runtime/exec/step_answer.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/launch.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"

namespace clvet {

struct NodeTimes {
  // A kernel that takes a millisecond or less is launched again, several times one behind the
  // other, for its time among others. Else each launch is waited for.
  bool piped = false;
  std::vector<double> ms;     // by node of the graph
  std::vector<double> steps;  // by step of the plan: also copies and hand-overs, which no node has
};

class Session {
 public:
  // `device` may be null for a plan without device steps; it must outlive the session. The graph is
  // the one that was planned (check_network_plan() says so of a plan that comes from elsewhere).
  static Result<Session> create(Graph graph, ExecutionPlan plan, Device* device);

  // Outputs by name. Inputs must have the planned shapes. `times`, where given, gets figures;
  // without it nothing waits before the outputs are read. kDeadlineExceeded where a step would
  // begin after `deadline` (monotonic_seconds).
  Result<std::map<std::string, Tensor>> run(
      const std::map<std::string, Tensor>& inputs, NodeTimes* times = nullptr,
      double deadline = std::numeric_limits<double>::infinity());

  // As run(), but each launch is waited for, what it wrote is read, and the host computes the same
  // from what the device itself had. `checker` sees each pair, in order. A wrong answer of one step
  // is so told from what later steps make of it.
  Result<std::map<std::string, Tensor>> check(const std::map<std::string, Tensor>& inputs,
                                              Checker& checker);

  // As run(), but the observer sees what each node makes, and may say what it reads.
  Result<std::map<std::string, Tensor>> watch(const std::map<std::string, Tensor>& inputs,
                                              const Observer& observer);

  // The memory from which the device itself reads the input `name`, for its user to write; what it
  // holds is not copied in later runs. Nothing: the device has none such, or another form of it.
  Result<std::optional<Tensor>> lend_input(const std::string& name);

  // While it is true, each of the above ends with kCancelled before its next step.
  void set_cancel(const std::atomic<bool>* cancelled) { cancelled_ = cancelled; }

  const ExecutionPlan& plan() const { return plan_; }
  const Graph& graph() const { return graph_; }

 private:
  struct Memory {
    ClMem own;
    cl_mem object = nullptr;
  };
  Session(Graph graph, ExecutionPlan plan, Device* device)
      : graph_(std::move(graph)), plan_(std::move(plan)), device_(device) {}
  Status check_cancelled() const;
  Status allocate();
  Status upload_constants();
  struct ReadyStep {
    const TableRow* row = nullptr;
    ClKernel kernel;
    KernelCall call;
  };
  Status prepare_steps();
  Status prepare(const PlanStep& step, const VariantTable& table, ReadyStep& ready);
  Result<cl_mem> object_of(const PlanStep& step, const Launch& launch, const CallArg& arg);
  Result<Values> values_of(const ConstantRecipe& recipe, const TensorRole& role) const;
  struct Weights {
    ClMem data, scales;  // scales: of levels alone
  };
  // Those of constant `index`, packed as the variant reads them.
  Result<const Weights*> weights(int index, const Launch& launch, const TensorRole& role,
                                 Storage storage);
  // What holds a constant argument.
  Result<cl_mem> constant(const PlanStep& step, const Launch& launch, const CallArg& arg);
  const PlanPhase& phase() const { return plan_.phases.front(); }
  Status run_step(size_t index, std::vector<Tensor>& values);
  Status time_step(size_t index, std::vector<Tensor>& values, NodeTimes& times);
  Result<double> piped_ms(size_t index, double waited_ms);
  Status upload(const DeviceTensor& tensor, cl_mem object, const Tensor& value);
  Status upload_indices(const DeviceTensor& tensor, cl_mem object, const Tensor& value);
  Status download(const DeviceTensor& tensor, cl_mem object, ValueId id, Tensor& value);
  // By value of the graph; those that are part of the plan must be as they were.
  Result<std::vector<Tensor>> input_values(const std::map<std::string, Tensor>& inputs) const;
  Result<std::vector<Tensor>> host_answer(const Node& node,
                                          const std::vector<Tensor>& values) const;
  Status run_host(const Node& node, std::vector<Tensor>& values);

  struct Checked;
  Status check_step(size_t index, Checked& state, Checker& checker);
  Status check_written(size_t index, Checked& state, Checker& checker);
  Status check_upload(size_t index, Checked& state, Checker& checker);
  Status fill_aliases(int before, Checked& state);
  // Index of the tensor that is the input as it is; -1: none is.
  int tensor_of_input(const std::string& name) const;
  // The tensor's own memory from now on, also for the kernels that read it.
  Status share(size_t tensor);
  Status hand_over(size_t tensor, const Tensor& value);
  bool writes_last(size_t index, size_t tensor) const;
  // What StepAnswer::right_by_reference asks, right behind the step.
  bool right_by_reference(size_t index);
  Result<Values> held_by(const DeviceTensor& tensor, cl_mem object, const TensorRole& role);
  Result<Values> read_by(const PlanStep& step, const Variant& variant, const TensorRole& role);

  Status give_kernel(size_t index, const Observer& observer);
  Status watch_kernel(size_t index, std::vector<Tensor>& values, const Observer& observer);
  Status watch_host(const PlanStep& step, std::vector<Tensor>& values, const Observer& observer);

  Graph graph_;
  ExecutionPlan plan_;
  Device* device_ = nullptr;
  const std::atomic<bool>* cancelled_ = nullptr;
  std::vector<ClMem> slots_;
  std::vector<Memory> tensors_;
  std::map<size_t, SharedInput> shared_;  // by tensor
  std::vector<ClMem> constants_;
  std::map<int, Weights> weights_;  // by constant of the plan
  std::vector<ReadyStep> ready_;    // by step; empty for those that are no kernel
  std::vector<ValueId> value_ids_;  // of each tensor of the plan
  Bytes staging_;
};

}  // namespace clvet
