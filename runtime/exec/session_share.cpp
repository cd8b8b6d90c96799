// Session::lend_input: inputs in memory that host and device share.
#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "kernels/call.h"
#include "runtime/exec/device.h"
#include "runtime/exec/session.h"
#include "runtime/exec/shared_input.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/plan/plan.h"

namespace clvet {
namespace {

// Memory of the host's can stand in its place.
bool can_be_lent(const DeviceTensor& tensor) {
  return !tensor.constant && tensor.alias < 0 && device_bytes(tensor) > 0 &&
         lies_as_on_host(tensor);
}

}  // namespace

int Session::tensor_of_input(const std::string& name) const {
  const ValueId id = graph_.find_value(name);
  if (std::ranges::count(graph_.inputs, id) == 0) return -1;
  const auto type = graph_.values[static_cast<size_t>(id)].type();
  if (!type || type->dtype != DType::kF32) return -1;
  for (const PlanStep& step : phase().steps) {
    if (step.kind != StepKind::kUpload) continue;
    const auto tensor = static_cast<size_t>(step.tensor);
    if (value_ids_[tensor] == id && can_be_lent(plan_.tensors[tensor])) return step.tensor;
  }
  return -1;
}

Status Session::share(size_t tensor) {
  const ValueId id = value_ids_[tensor];
  CLVET_ASSIGN_OR_RETURN(
      SharedInput shared,
      SharedInput::create(*device_, *graph_.values[static_cast<size_t>(id)].type()));
  shared_.erase(tensor);
  const cl_mem object = shared_.emplace(tensor, std::move(shared)).first->second.object();
  const auto is_same = [&](int index) {
    while (plan_.tensors[static_cast<size_t>(index)].alias >= 0)
      index = plan_.tensors[static_cast<size_t>(index)].alias;
    return static_cast<size_t>(index) == tensor;
  };
  for (size_t i = 0; i < plan_.tensors.size(); ++i)
    if (is_same(static_cast<int>(i))) tensors_[i].object = object;
  for (size_t i = 0; i < ready_.size(); ++i) {
    const auto& args = ready_[i].call.args;
    for (size_t at = 0; at < args.size(); ++at) {
      const auto& named = phase().steps[i].tensors;
      const auto found = named.find(args[at].name);
      if (found == named.end() || !is_same(found->second)) continue;
      CLVET_RETURN_IF_ERROR(set_arg(*device_, ready_[i].kernel.get(), at, object));
    }
  }
  return {};
}

Result<std::optional<Tensor>> Session::lend_input(const std::string& name) {
  const int tensor = device_ && device_->shares_memory() ? tensor_of_input(name) : -1;
  if (tensor < 0) return std::nullopt;
  const auto at = static_cast<size_t>(tensor);
  if (!shared_.contains(at)) CLVET_RETURN_IF_ERROR(share(at));
  CLVET_ASSIGN_OR_RETURN(Tensor memory, shared_.at(at).lend());
  return memory;
}

Status Session::hand_over(size_t tensor, const Tensor& value) {
  // Whoever still reads what was there before reads on.
  const SharedInput& known = shared_.at(tensor);
  if (!known.is(value) && known.is_held()) CLVET_RETURN_IF_ERROR(share(tensor));
  return shared_.at(tensor).hand_over(value);
}

}  // namespace clvet
