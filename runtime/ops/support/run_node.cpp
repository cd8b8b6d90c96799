// Runs one node on the host: checks, allocation, widening of short floats, the op and its fused
// activation.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/activation.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {
namespace {

OpCall call_of(const Node& node, std::span<const Tensor* const> inputs) {
  OpCall call{node, {}};
  for (const Tensor* tensor : inputs) {
    OpInput input;
    if (tensor) input = {tensor->type(), tensor, true};
    call.inputs.push_back(input);
  }
  return call;
}

Result<std::vector<Tensor>> allocate(const OpDef& def, const std::vector<TensorType>& types) {
  std::vector<Tensor> outputs;
  for (const TensorType& type : types) {
    const bool unset = def.fills_floats && type.dtype == DType::kF32;
    const auto create = unset ? Tensor::create_unset : Tensor::create;
    CLVET_ASSIGN_OR_RETURN(Tensor tensor, create(type.dtype, type.shape));
    outputs.push_back(std::move(tensor));
  }
  return outputs;
}

Status activate(const Activation& activation, Tensor& tensor) {
  if (activation.act == Act::kNone) return {};
  if (tensor.dtype() == DType::kF64) {
    for (double& y : std::span(tensor.data<double>(), static_cast<size_t>(tensor.elements())))
      y = apply_act(activation.act, activation.lo, activation.hi, y);
    return {};
  }
  if (tensor.dtype() != DType::kF32) {
    return fail(ErrorCode::kInternal, "an activation cannot be fused into a node of the type {}",
                to_string(tensor.dtype()));
  }
  constexpr int64_t kGrain = 1 << 15;
  parallel_for(tensor.elements(), kGrain, [&](int64_t first, int64_t end) {
    activate(activation, tensor.data<float>() + first, end - first);
  });
  return {};
}

Result<std::vector<Tensor>> run_checked(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<TensorType> types, infer_node(call));
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, allocate(*call.node.def, types));
  const bool empty = std::all_of(outputs.begin(), outputs.end(),
                                 [](const Tensor& tensor) { return tensor.elements() == 0; });
  // Its other extents may be of any size, and an operator may loop over them.
  if (empty) return outputs;
  CLVET_RETURN_IF_ERROR(call.node.def->host(call, outputs));
  if (!outputs.empty() && !call.node.def->activates)
    CLVET_RETURN_IF_ERROR(activate(call.node.activation, outputs[0]));
  return outputs;
}

// Control flow: what it computes is not known before it runs.
Result<std::vector<Tensor>> run_whole(const OpCall& call) {
  CLVET_RETURN_IF_ERROR(check_types(*call.node.def, call));
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, call.node.def->run(call));
  if (outputs.size() >= call.node.outputs.size()) return outputs;
  return fail(ErrorCode::kInvalidArgument, "{} has {} outputs, but the node names {}", call.node.op,
              outputs.size(), call.node.outputs.size());
}

Result<std::vector<Tensor>> run_widened(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<TensorType> types, infer_node(call));
  std::vector<Tensor> wide(call.inputs.size());
  OpCall widened{call.node, call.inputs};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.has(i) || !is_short_float(call.type(i).dtype)) continue;
    CLVET_ASSIGN_OR_RETURN(wide[i], call.tensor(i).cast(DType::kF32));
    widened.inputs[i] = {wide[i].type(), &wide[i], true};
  }
  CLVET_ASSIGN_OR_RETURN(std::vector<Tensor> outputs, run_checked(widened));
  for (size_t i = 0; i < outputs.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(outputs[i], outputs[i].cast(types[i].dtype));
  }
  return outputs;
}

}  // namespace

Result<std::vector<Tensor>> run_node(const Node& node, std::span<const Tensor* const> inputs) {
  if (!node.def)
    return fail(ErrorCode::kUnsupported, "clvet does not support the operator {}", node.op);
  const OpCall call = call_of(node, inputs);
  const bool is_short = std::ranges::any_of(call.inputs, [](const OpInput& input) {
    return input.present && is_short_float(input.type.dtype);
  });
  try {
    if (node.def->run) return run_whole(call);
    return is_short && !node.def->moves_elements ? run_widened(call) : run_checked(call);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kResourceExhausted, "there is not enough memory to run {} '{}'", node.op,
                node.name);
  }
}

}  // namespace clvet
