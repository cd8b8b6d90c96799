// Session::check: every answer of the device beside the host's of the same inputs.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "runtime/exec/device.h"
#include "runtime/exec/session.h"
#include "runtime/exec/step_answer.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/live_values.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

// StepAnswer has it.
double step_of(const Graph& graph, const Node* node, const std::vector<Tensor>& seen) {
  if (!node || node->domain != kStepsDomain) return 0;
  if (node->op == kLevelZero) return 1;
  if (node->op != kLevels) return 0;
  if (node->int_attr("kind", 0) < 2) return 1;
  const Tensor* scale = graph.constant(node->inputs[1]);
  if (!scale) scale = &seen[static_cast<size_t>(node->inputs[1])];
  return scale->elements() == 1 ? scale->to_f64()[0] : 0;
}

}  // namespace

// `values`: as run() has them. `seen`: what the device holds of each value, as it was read back; of
// the others what the host has.
struct Session::Checked {
  std::vector<Tensor> values, seen;
  std::vector<bool> known;  // by value: it is in `seen`
  // By tensor of the plan. A value may be on the device in floats and, cast for others, in halves.
  std::map<size_t, Tensor> copies;
  std::map<int, std::vector<Tensor>> answers;  // of the host, by node whose calls are not done yet
  double step_part = 0;                        // StepAnswer has it
  void see(ValueId id, Tensor value) {
    seen[static_cast<size_t>(id)] = std::move(value);
    known[static_cast<size_t>(id)] = true;
  }
};

// Nodes before `before` that only see a tensor of the device in another shape.
Status Session::fill_aliases(int before, Checked& state) {
  for (int i = 0; i < before; ++i) {
    if (phase().nodes[static_cast<size_t>(i)].place != Place::kAlias) continue;
    const Node& node = graph_.nodes[static_cast<size_t>(i)];
    const bool ready = std::all_of(node.inputs.begin(), node.inputs.end(), [&](ValueId id) {
      return id == kNoValue || graph_.constant(id) || state.known[static_cast<size_t>(id)];
    });
    if (!ready || state.known[static_cast<size_t>(node.outputs[0])]) continue;
    CLVET_ASSIGN_OR_RETURN(auto outputs, host_answer(node, state.seen));
    state.see(node.outputs[0], std::move(outputs[0]));
  }
  return {};
}

// No later step of the node writes the tensor.
bool Session::writes_last(size_t index, size_t tensor) const {
  const auto& steps = phase().steps;
  for (size_t i = index + 1; i < steps.size(); ++i) {
    if (steps[i].kind != StepKind::kKernel || steps[i].node != steps[index].node) continue;
    for (const CallArg& arg : ready_[i].call.args) {
      if (arg.kind != ArgKind::kOutput) continue;
      if (steps[i].tensors.at(arg.name) == static_cast<int>(tensor)) return false;
    }
  }
  return true;
}

Status Session::check_upload(size_t index, Checked& state, Checker& checker) {
  const auto at = static_cast<size_t>(phase().steps[index].tensor);
  const DeviceTensor& tensor = plan_.tensors[at];
  if (tensor.row_numbers > 0 || tensor.constant) return {};
  const ValueId id = value_ids_[at];
  Tensor device;
  CLVET_RETURN_IF_ERROR(download(tensor, tensors_[at].object, id, device));
  checker.judge({"", nullptr, "", device, state.values[static_cast<size_t>(id)], tensor.half,
                 state.step_part});
  state.copies[static_cast<size_t>(at)] = device;
  state.see(id, std::move(device));
  return {};
}

Status Session::check_written(size_t index, Checked& state, Checker& checker) {
  const PlanStep& step = phase().steps[index];
  const Node* node = step.node < 0 ? nullptr : &graph_.nodes[static_cast<size_t>(step.node)];
  if (node && !state.answers.contains(step.node)) {
    CLVET_RETURN_IF_ERROR(fill_aliases(step.node, state));
    // What the node reads, not another copy of it.
    for (size_t i = 0; i < phase().steps.size(); ++i) {
      if (phase().steps[i].node != step.node) continue;
      for (const auto& [role, tensor] : phase().steps[i].tensors) {
        const auto read = static_cast<size_t>(tensor);
        const auto copy = state.copies.find(read);
        if (copy != state.copies.end() && value_ids_[read] != kNoValue)
          state.see(value_ids_[read], copy->second);
      }
    }
    CLVET_ASSIGN_OR_RETURN(state.answers[step.node], host_answer(*node, state.seen));
  }
  for (const CallArg& arg : ready_[index].call.args) {
    if (arg.kind != ArgKind::kOutput) continue;
    const auto at = static_cast<size_t>(step.tensors.at(arg.name));
    const ValueId id = value_ids_[at];
    if (id == kNoValue || !writes_last(index, at)) continue;
    if (!node) CLVET_RETURN_IF_ERROR(fill_aliases(static_cast<int>(graph_.nodes.size()), state));
    Tensor device;
    CLVET_RETURN_IF_ERROR(download(plan_.tensors[at], tensors_[at].object, id, device));
    const Tensor* host = node ? nullptr : &state.seen[static_cast<size_t>(id)];
    for (size_t i = 0; node && i < node->outputs.size(); ++i)
      if (node->outputs[i] == id) host = &state.answers[step.node][i];
    if (!host) return fail(ErrorCode::kInternal, "a step writes a value that is not its node's");
    checker.judge({node ? node->name : "", ready_[index].row, plan_.tensors[at].value, device,
                   *host, plan_.tensors[at].half, state.step_part,
                   step_of(graph_, node, state.seen), [&] { return right_by_reference(index); }});
    state.copies[at] = device;
    state.see(id, std::move(device));
  }
  return {};
}

Status Session::check_step(size_t index, Checked& state, Checker& checker) {
  const PlanStep& step = phase().steps[index];
  const double started = monotonic_seconds();
  CLVET_RETURN_IF_ERROR(run_step(index, state.values));
  const bool launches = step.kind == StepKind::kKernel || step.kind == StepKind::kUpload;
  if (launches) CLVET_RETURN_IF_ERROR(device_->finish());
  checker.steps_s += monotonic_seconds() - started;
  switch (step.kind) {
    case StepKind::kKernel:
      return check_written(index, state, checker);
    case StepKind::kUpload:
      return check_upload(index, state, checker);
    case StepKind::kDownload: {
      const ValueId id = value_ids_[static_cast<size_t>(step.tensor)];
      const auto at = static_cast<size_t>(id);
      CLVET_RETURN_IF_ERROR(fill_aliases(static_cast<int>(graph_.nodes.size()), state));
      if (state.known[at])
        checker.judge({"", nullptr, "", state.values[at], state.seen[at], false, state.step_part});
      return {};
    }
    case StepKind::kHost:
      for (const ValueId output : graph_.nodes[static_cast<size_t>(step.node)].outputs) {
        if (output != kNoValue) state.see(output, state.values[static_cast<size_t>(output)]);
      }
      return {};
  }
  return {};
}

Result<std::map<std::string, Tensor>> Session::check(const std::map<std::string, Tensor>& inputs,
                                                     Checker& checker) {
  Checked state;
  CLVET_ASSIGN_OR_RETURN(state.values, input_values(inputs));
  state.seen = state.values;
  state.known.assign(graph_.values.size(), false);
  for (const Value& value : graph_.values)
    if (value.dtype) state.step_part = std::max(state.step_part, step_part(*value.dtype));
  for (const ValueId id : graph_.inputs) state.known[static_cast<size_t>(id)] = true;
  for (size_t id = 0; id < state.known.size(); ++id) {
    const auto& shape = graph_.values[id].shape;
    if (shape && elements_of(*shape) == 0) state.known[id] = true;
  }
  for (size_t i = 0; i < phase().steps.size(); ++i) {
    CLVET_RETURN_IF_ERROR(check_cancelled());
    CLVET_RETURN_IF_ERROR(check_step(i, state, checker));
  }
  return outputs_of(graph_, state.values);
}

}  // namespace clvet
