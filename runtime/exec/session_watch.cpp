// Session::watch: what each node reads, and what it makes of it.
#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "runtime/exec/device.h"
#include "runtime/exec/observer.h"
#include "runtime/exec/session.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/live_values.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

bool reads(const Node& node, ValueId value) {
  return value != kNoValue &&
         std::find(node.inputs.begin(), node.inputs.end(), value) != node.inputs.end();
}

}  // namespace

Status Session::give_kernel(size_t index, const Observer& observer) {
  const PlanStep& step = phase().steps[index];
  const auto node = static_cast<size_t>(step.node);
  for (const CallArg& arg : ready_[index].call.args) {
    const auto found = step.tensors.find(arg.name);
    if (arg.kind != ArgKind::kInput || found == step.tensors.end()) continue;
    const auto at = static_cast<size_t>(found->second);
    const DeviceTensor& tensor = plan_.tensors[at];
    if (tensor.constant || !reads(graph_.nodes[node], value_ids_[at])) continue;
    const Tensor* given = observer.reads(node, value_ids_[at]);
    if (given) CLVET_RETURN_IF_ERROR(upload(tensor, tensors_[at].object, *given));
  }
  return {};
}

Status Session::watch_kernel(size_t index, std::vector<Tensor>& values, const Observer& observer) {
  const PlanStep& step = phase().steps[index];
  if (step.node >= 0 && observer.reads) CLVET_RETURN_IF_ERROR(give_kernel(index, observer));
  CLVET_RETURN_IF_ERROR(run_step(index, values));
  if (step.node < 0) return {};
  CLVET_RETURN_IF_ERROR(device_->finish());
  for (const CallArg& arg : ready_[index].call.args) {
    if (arg.kind != ArgKind::kOutput) continue;
    const auto at = static_cast<size_t>(step.tensors.at(arg.name));
    const ValueId id = value_ids_[at];
    if (id == kNoValue || !writes_last(index, at)) continue;
    Tensor made;
    CLVET_RETURN_IF_ERROR(download(plan_.tensors[at], tensors_[at].object, id, made));
    CLVET_RETURN_IF_ERROR(observer.wrote(static_cast<size_t>(step.node), id, made));
  }
  return {};
}

Status Session::watch_host(const PlanStep& step, std::vector<Tensor>& values,
                           const Observer& observer) {
  const auto index = static_cast<size_t>(step.node);
  const Node& node = graph_.nodes[index];
  for (const ValueId id : node.inputs) {
    const bool given = observer.reads && id != kNoValue && !graph_.constant(id);
    const Tensor* tensor = given ? observer.reads(index, id) : nullptr;
    if (tensor) values[static_cast<size_t>(id)] = *tensor;
  }
  CLVET_RETURN_IF_ERROR(run_host(node, values));
  for (const ValueId id : node.outputs) {
    if (id == kNoValue) continue;
    CLVET_RETURN_IF_ERROR(observer.wrote(index, id, values[static_cast<size_t>(id)]));
  }
  return {};
}

Result<std::map<std::string, Tensor>> Session::watch(const std::map<std::string, Tensor>& inputs,
                                                     const Observer& observer) {
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> values, input_values(inputs));
  for (size_t i = 0; i < phase().steps.size(); ++i) {
    CLVET_RETURN_IF_ERROR(check_cancelled());
    const PlanStep& step = phase().steps[i];
    switch (step.kind) {
      case StepKind::kKernel:
        CLVET_RETURN_IF_ERROR(watch_kernel(i, values, observer));
        break;
      case StepKind::kHost:
        CLVET_RETURN_IF_ERROR(watch_host(step, values, observer));
        break;
      case StepKind::kUpload:
      case StepKind::kDownload:
        CLVET_RETURN_IF_ERROR(run_step(i, values));
        break;
    }
  }
  return outputs_of(graph_, values);
}

}  // namespace clvet
