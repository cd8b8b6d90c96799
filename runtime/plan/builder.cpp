#include "runtime/plan/builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/infer.h"
#include "runtime/graph/memory_plan.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/op_def.h"
#include "runtime/ops/view.h"
#include "runtime/plan/cost.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"

namespace clvet {
namespace {

int64_t dim_of(const Dims& dims, const char* name) {
  const auto found = dims.find(name);
  return found == dims.end() ? 0 : found->second;
}

// A 1x1 convolution of stride 1 is a matrix product over pixels, and one row of that is gemv.
void simplify(LoweredCall& lowered) {
  Dims& dims = lowered.dims;
  if (lowered.op == "conv2d") {
    const bool pointwise = dim_of(dims, "KH") == 1 && dim_of(dims, "KW") == 1 &&
                           dim_of(dims, "stride_h") == 1 && dim_of(dims, "stride_w") == 1 &&
                           dim_of(dims, "pad_top") == 0 && dim_of(dims, "pad_left") == 0 &&
                           dim_of(dims, "OH") == dim_of(dims, "H") &&
                           dim_of(dims, "OW") == dim_of(dims, "W");
    if (!pointwise) return;
    Dims gemm = {{"M", dim_of(dims, "N") * dim_of(dims, "H") * dim_of(dims, "W")},
                 {"N", dim_of(dims, "OC")},
                 {"K", dim_of(dims, "C")},
                 {"W", dim_of(dims, "W")},
                 {"act", dim_of(dims, "act")}};
    lowered.op = "gemm";
    dims = std::move(gemm);
  }
  if (lowered.op == "gemm" && dim_of(dims, "M") == 1) {
    lowered.op = "gemv";
    dims.erase("M");
    dims.erase("W");
  }
}

tl::unexpected<Error> unknown_role(const Node& node, const std::string& role) {
  return fail(ErrorCode::kInternal, "node '{}' has no tensor for the kernel's '{}'", node.name,
              role);
}

const TensorRole* find_role(const std::vector<TensorRole>& roles, const CallArg& arg) {
  for (const TensorRole& role : roles) {
    if (arg.kind == ArgKind::kWeights ? role.kind == TensorKind::kWeights : role.name == arg.name) {
      return &role;
    }
  }
  return nullptr;
}

}  // namespace

PlanBuilder::PlanBuilder(const Graph& graph, const VariantChooser& chooser,
                         const Combination& combination)
    : graph_(graph), chooser_(chooser), on_host_(graph.values.size(), false) {
  plan_.combination = combination;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    on_host_[i] = graph.values[i].constant.has_value();
  }
  for (const ValueId input : graph.inputs) on_host_[static_cast<size_t>(input)] = true;
}

Result<ExecutionPlan> PlanBuilder::build() {
  for (size_t i = 0; i < graph_.nodes.size(); ++i) {
    CLVET_RETURN_IF_ERROR(place(static_cast<int>(i)));
  }
  for (const ValueId output : graph_.outputs) CLVET_RETURN_IF_ERROR(bring_to_host(output));
  share_buffers();
  return std::move(plan_);
}

Status PlanBuilder::place(int index) {
  const Node& node = node_at(index);
  PlannedNode& planned = plan_.nodes.emplace_back();
  planned.name = node.name;
  planned.op = node.op;
  const auto call = call_of(graph_, node);
  if (!call) {
    planned.reason = "a shape that is known only at run time";
    return run_on_host(index);
  }
  Lowering lowering = lower_node(*call, preferred_view(node));
  if (lowering.kind == LoweringKind::kAlias) {
    if (alias(index, lowering)) return {};
    planned.reason = "a view of a tensor on the host";
    return run_on_host(index);
  }
  if (lowering.kind == LoweringKind::kHost) {
    planned.reason = lowering.reason;
    return run_on_host(index);
  }
  std::string reason;
  auto chosen = choose_all(lowering.calls, reason);
  if (!chosen) {
    planned.reason = reason;
    plan_.fallbacks.push_back({node.name, lowering.calls[0].op, "host", reason});
    return run_on_host(index);
  }
  for (const ChosenVariant& variant : *chosen) {
    if (variant.instead_of.empty()) continue;
    plan_.fallbacks.push_back(
        {node.name, variant.instead_of, variant.variant.name(), variant.verdict});
  }
  return run_on_device(index, lowering.calls, std::move(*chosen));
}

View PlanBuilder::preferred_view(const Node& node) const {
  for (const ValueId input : node.inputs) {
    if (input == kNoValue || graph_.constant(input)) continue;
    for (const DeviceTensor& tensor : plan_.tensors) {
      if (tensor.value == input && tensor.role.kind != TensorKind::kIndices) return tensor.view;
    }
  }
  return View::kChannelsFirst;
}

Status PlanBuilder::run_on_host(int index) {
  for (const ValueId input : node_at(index).inputs) {
    if (input != kNoValue) CLVET_RETURN_IF_ERROR(bring_to_host(input));
  }
  PlanStep step;
  step.kind = StepKind::kHost;
  step.node = index;
  plan_.steps.push_back(std::move(step));
  for (const ValueId output : node_at(index).outputs) {
    if (output != kNoValue) on_host_[static_cast<size_t>(output)] = true;
  }
  return {};
}

bool PlanBuilder::alias(int index, const Lowering& lowering) {
  const Node& node = node_at(index);
  const ValueId input = node.inputs[static_cast<size_t>(lowering.source.input)];
  const ValueId output = node.outputs[0];
  // What a caller gives is brought to the device for the nodes behind.
  const auto given = std::find(graph_.inputs.begin(), graph_.inputs.end(), input);
  const auto extent =
      view_of(*graph_.values[static_cast<size_t>(input)].shape, lowering.source.view);
  if (given != graph_.inputs.end() && extent) {
    const Wanted wanted{activation_role(*extent), lowering.source.view, 0,
                        plan_.combination.activations, stores_half(plan_.combination.precision)};
    if (!want_value(input, wanted)) return false;
  }
  const Shape& from_shape = *graph_.values[static_cast<size_t>(input)].shape;
  const Shape& to_shape = *graph_.values[static_cast<size_t>(output)].shape;
  const auto to = view_of(to_shape, lowering.view);
  if (!to) return false;
  const TensorRole role = activation_role(*to);
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    const DeviceTensor& source = plan_.tensors[i];
    if (source.value != input || source.constant ||
        !same_order(from_shape, source.view, lowering.source.view)) {
      continue;
    }
    DeviceTensor target = source;
    target.value = output;
    target.shape = to_shape;
    target.view = lowering.view;
    if (source.role.c != role.c || rows_of(source.role) != rows_of(role)) continue;
    // An image keeps its lines; who wants others moves it.
    target.role = same_bytes(source.role, role, source.storage) ? role : source.role;
    target.alias = alias_root(static_cast<int>(i));
    add_tensor(std::move(target));
    plan_.nodes.back().place = Place::kAlias;
    ++plan_.device_nodes;
    return true;
  }
  return false;
}

int PlanBuilder::alias_root(int tensor) const {
  return tensor_at(tensor).alias < 0 ? tensor : tensor_at(tensor).alias;
}

std::optional<std::vector<ChosenVariant>> PlanBuilder::choose_all(std::vector<LoweredCall>& calls,
                                                                  std::string& reason) const {
  for (LoweredCall& call : calls) simplify(call);
  // What the calls hand to each other must be stored alike.
  Combination combination = plan_.combination;
  for (const bool again : {false, true}) {
    if (again) combination.precision = Precision::kHigh;
    std::vector<ChosenVariant> all;
    for (const LoweredCall& call : calls) {
      auto chosen = chooser_.choose(call.op, call.dims, call.scalars, combination, reason);
      if (!chosen) return std::nullopt;
      all.push_back(std::move(*chosen));
    }
    const bool alike = std::all_of(all.begin(), all.end(), [&](const ChosenVariant& one) {
      return stores_half(one.variant.precision) == stores_half(all[0].variant.precision);
    });
    if (alike) return all;
  }
  reason = "its kernels are right at different precisions";
  return std::nullopt;
}

Status PlanBuilder::run_on_device(int index, const std::vector<LoweredCall>& calls,
                                  std::vector<ChosenVariant> chosen) {
  PlannedNode& planned = plan_.nodes.back();
  planned.place = Place::kDevice;
  ++plan_.device_nodes;
  std::vector<int> made;
  for (size_t i = 0; i < calls.size(); ++i) {
    if (i + 1 == calls.size()) {
      planned.kernel = chosen[i].variant.name();
      planned.variant_key = chosen[i].program->variant_key;
    }
    CLVET_ASSIGN_OR_RETURN(const int output, add_call(index, calls[i], std::move(chosen[i]), made));
    made.push_back(output);
  }
  return {};
}

Result<int> PlanBuilder::input_tensor(const Node& node, const LoweredCall& lowered,
                                      const CallArg& arg, const TensorRole& role, bool half,
                                      const std::vector<int>& made) {
  const auto input = std::find_if(lowered.inputs.begin(), lowered.inputs.end(),
                                  [&](const LoweredInput& row) { return row.role == arg.name; });
  if (input == lowered.inputs.end()) return unknown_role(node, arg.name);
  const Wanted wanted{role, input->view, input->rank, arg.storage, half};
  if (input->input >= 0) {
    return want_value(node.inputs[static_cast<size_t>(input->input)], wanted);
  }
  const int converted = convert(made.at(static_cast<size_t>(-1 - input->input)), wanted);
  if (converted < 0) {
    return fail(ErrorCode::kInternal, "node '{}': no kernel brings '{}' where it is needed",
                node.name, arg.name);
  }
  return converted;
}

Result<int> PlanBuilder::index_tensor(const Node& node, const LoweredCall& lowered,
                                      const TensorRole& role) {
  for (const LoweredInput& input : lowered.inputs) {
    if (input.role != role.name) continue;
    return want_indices(node.inputs.at(static_cast<size_t>(input.input)), role);
  }
  return unknown_role(node, role.name);
}

Result<int> PlanBuilder::add_call(int index, const LoweredCall& lowered, ChosenVariant chosen,
                                  const std::vector<int>& made) {
  const Node& node = node_at(index);
  const auto roles = find_op_contract(lowered.op)->roles(lowered.dims);
  if (!roles) return wrap(roles.error(), node.name);
  const Precision precision = chosen.variant.precision;
  PlanStep step;
  step.kind = StepKind::kKernel;
  step.node = index;
  step.program = program_index(chosen.program);
  double reduction = 1;
  size_t bytes = 0, outputs = 0;
  int made_here = -1;
  for (const CallArg& arg : chosen.call.args) {
    PlanStep::Object object;
    const TensorRole* role = find_role(*roles, arg);
    const bool tensor = arg.kind == ArgKind::kInput || arg.kind == ArgKind::kOutput;
    const bool constant = arg.kind == ArgKind::kWeights || arg.kind == ArgKind::kVector;
    const bool indices = arg.kind == ArgKind::kIndices;
    if (!role && (tensor || constant || indices)) return unknown_role(node, arg.name);
    if (indices) {
      CLVET_ASSIGN_OR_RETURN(object.tensor, index_tensor(node, lowered, *role));
    } else if (arg.kind == ArgKind::kInput) {
      CLVET_ASSIGN_OR_RETURN(object.tensor,
                             input_tensor(node, lowered, arg, *role, stores_half(precision), made));
    } else if (arg.kind == ArgKind::kOutput) {
      DeviceTensor output;
      output.role = *role;
      output.storage = arg.storage;
      output.precision = precision;
      if (lowered.output == kTemporary) {
        const bool plain = lowered.temporary.empty();
        output.shape = plain ? Shape{role->n, role->h, role->w, role->c} : lowered.temporary;
        output.view = plain ? View::kChannelsLast : lowered.view;
      } else {
        output.value = node.outputs[static_cast<size_t>(lowered.output)];
        output.shape = *graph_.values[static_cast<size_t>(output.value)].shape;
        output.view = lowered.view;
      }
      object.tensor = made_here = add_tensor(std::move(output));
      outputs = static_cast<size_t>(role->elements());
    } else if (constant) {
      object.constant = add_constant(index, lowered, *role, arg, chosen.variant);
      if (arg.kind == ArgKind::kWeights) reduction = static_cast<double>(role->taps * role->cin);
    }
    if (tensor) bytes += activation_bytes(*role, precision);
    step.objects.push_back(object);
  }
  step.call = std::move(chosen.call);
  plan_.steps.push_back(std::move(step));
  const double flops = 2 * reduction * static_cast<double>(outputs);
  plan_.estimated_ms += kernel_ms(flops, chosen.gflops, bytes);
  return made_here;
}

int PlanBuilder::add_constant(int index, const LoweredCall& lowered, const TensorRole& role,
                              const CallArg& arg, const Variant& variant) {
  DeviceConstant constant;
  constant.node = index;
  constant.role = role;
  constant.kind = arg.kind;
  constant.storage = arg.storage;
  constant.precision = variant.precision;
  constant.pack = variant.manifest->pack;
  for (const LoweredConstant& row : lowered.constants) {
    if (row.role == role.name) constant.make = row.make;
  }
  plan_.constants.push_back(std::move(constant));
  return static_cast<int>(plan_.constants.size()) - 1;
}

int PlanBuilder::program_index(const std::shared_ptr<const Program>& program) {
  for (size_t i = 0; i < plan_.programs.size(); ++i) {
    if (plan_.programs[i]->key == program->key) return static_cast<int>(i);
  }
  plan_.programs.push_back(program);
  return static_cast<int>(plan_.programs.size()) - 1;
}

// Buffers that are never alive together share one memory object.
void PlanBuilder::share_buffers() {
  std::vector<Lifetime> lifetimes(plan_.tensors.size());
  const auto touch = [&](int tensor, int step) {
    const int root = alias_root(tensor);
    Lifetime& life = lifetimes[static_cast<size_t>(root)];
    if (life.bytes == 0) {
      const DeviceTensor& row = tensor_at(root);
      const bool shared = row.storage == Storage::kBuffer && !row.constant;
      life = {shared ? static_cast<int64_t>(device_bytes(row)) : 0, step, step};
    }
    life.last = step;
  };
  for (size_t i = 0; i < plan_.steps.size(); ++i) {
    if (plan_.steps[i].tensor >= 0) touch(plan_.steps[i].tensor, static_cast<int>(i));
    for (const PlanStep::Object& object : plan_.steps[i].objects) {
      if (object.tensor >= 0) touch(object.tensor, static_cast<int>(i));
    }
  }
  const SlotPlan slots = plan_slots(lifetimes);
  plan_.slot_bytes = slots.slot_bytes;
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    plan_.tensors[i].slot = slots.slots[static_cast<size_t>(alias_root(static_cast<int>(i)))];
  }
}

}  // namespace clvet
