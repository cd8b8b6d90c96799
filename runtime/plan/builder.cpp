#include "runtime/plan/builder.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/device_features.h"
#include "probe/report/report.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/plan/memory_slots.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_choice.h"
#include "runtime/plan/variant_table.h"

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
  return fail(ErrorCode::kInternal, "node '{}' has no tensor for the kernel's argument '{}'",
              node.name, role);
}

bool fits_an_image(const TensorRole& role, const DeviceFeatures& features) {
  const ImageExtent image = activation_extent(role);
  return features.images && image.width <= features.image_width &&
         image.height <= features.image_height;
}

DeviceTensor seen_as(const DeviceTensor& source, const Shape& shape, const View& view,
                     const Nhwc& extent) {
  DeviceTensor target = source;
  target.shape = shape;
  target.view = view;
  // An image keeps its lines; who wants others moves it.
  if (same_bytes(source.extent, extent, source.storage)) target.extent = extent;
  return target;
}

bool is_number(const CallArg& arg) {
  return arg.kind == ArgKind::kInt || arg.kind == ArgKind::kFloat;
}

PlanStep kernel_step(int node, const LoweredCall& lowered, const ChosenVariant& chosen) {
  PlanStep step;
  step.kind = StepKind::kKernel;
  step.node = node;
  step.variant = chosen.row->name;
  step.op = lowered.op;
  step.dims = lowered.dims;
  step.scalars = lowered.scalars;
  return step;
}

}  // namespace

PlanBuilder::PlanBuilder(const Graph& graph, const VariantChooser& chooser,
                         const Combination& combination, const PlanFreedom& freedom,
                         const ExecutionPlan* fixed)
    : graph_(graph),
      chooser_(chooser),
      freedom_(freedom),
      fixed_(fixed),
      on_host_(graph.values.size(), false) {
  plan_.combination = combination;
  plan_.phases.push_back({"run", {}, {}, 0});
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
  if (freedom_.weights) name_weights();
  if (!fixed_) name_memory();
  return std::move(plan_);
}

// The combination is called by where most weights lie.
void PlanBuilder::name_weights() {
  int images = 0, buffers = 0;
  for (const PlanStep& step : phase().steps) {
    const TableRow* row = chooser_.table().find(step.variant);
    if (row && row->variant.weights) {
      ++(*row->variant.weights == Storage::kImage ? images : buffers);
    }
  }
  plan_.combination.weights = images > buffers ? Storage::kImage : Storage::kBuffer;
}

// Low where some weights stay levels.
void PlanBuilder::name_memory() {
  const auto& steps = phase().steps;
  const bool low = std::ranges::any_of(steps, [&](const PlanStep& step) {
    const TableRow* row = chooser_.table().find(step.variant);
    return row && row->variant.combination().memory == Memory::kLow;
  });
  plan_.combination.memory = low ? Memory::kLow : Memory::kNormal;
}

Status PlanBuilder::place(int index) {
  const Node& node = node_at(index);
  phase().nodes.push_back({node.name, node.op, Place::kHost, {}, 0});
  PlannedNode& planned = phase().nodes.back();
  const auto call = call_of(graph_, node);
  Lowering lowering = call ? lower_node(*call, preferred_view(node))
                           : host_only("its shapes are known only at run time");
  for (LoweredCall& one : lowering.calls) simplify(one);
  if (fixed_) return place_fixed(index, lowering);
  if (lowering.kind == LoweringKind::kNothing) {
    planned.place = Place::kDevice;
    note_empty(index);
    return {};
  }
  if (lowering.kind == LoweringKind::kAlias) {
    if (alias(index, lowering)) return {};
    planned.reason = "it is a view of a tensor on the host";
    return run_on_host(index);
  }
  if (lowering.kind == LoweringKind::kHost) {
    planned.reason = lowering.reason;
    return run_on_host(index);
  }
  return place_calls(index, lowering);
}

Status PlanBuilder::place_calls(int index, const Lowering& lowering) {
  const Node& node = node_at(index);
  PlannedNode& planned = phase().nodes.back();
  const std::vector<LoweredCall>& calls = lowering.calls;
  const auto chosen = choose_all(index, calls);
  if (!chosen) {
    planned.reason = chosen.error().message;
    planned.untested = chosen.error().code == ErrorCode::kUntested;
    plan_.fallbacks.push_back({node.name, calls[0].op, "host", planned.reason});
    return run_on_host(index);
  }
  if (const auto other = choose_other(index, lowering, *chosen))
    return run_on_device(index, *other->calls, other->chosen);
  for (const ChosenVariant& variant : *chosen) {
    if (variant.instead_of.empty()) continue;
    plan_.fallbacks.push_back(
        {node.name, variant.instead_of, variant.row->name, to_string(variant.verdict)});
  }
  return run_on_device(index, calls, *chosen);
}

Status PlanBuilder::place_fixed(int index, const Lowering& lowering) {
  const Node& node = node_at(index);
  const auto& rows = fixed_->phases.front().nodes;
  const PlannedNode& row = rows.at(static_cast<size_t>(index));
  phase().nodes.back().reason = row.reason;
  if (row.place == Place::kHost) return run_on_host(index);
  if (lowering.kind == LoweringKind::kNothing) {
    phase().nodes.back().place = row.place;
    note_empty(index);
    return {};
  }
  if (row.place == Place::kAlias) {
    if (lowering.kind == LoweringKind::kAlias && alias(index, lowering)) return {};
    return fail(ErrorCode::kInvalidArgument, "node '{}' is not a view of a tensor on the device",
                node.name);
  }
  if (lowering.kind != LoweringKind::kKernel) {
    return fail(ErrorCode::kInvalidArgument, "node '{}' has no kernel: {}", node.name,
                lowering.reason);
  }
  const std::vector<LoweredCall>& calls = fixed_calls(index, lowering);
  CLVET_ASSIGN_OR_RETURN(const auto chosen, fixed_choices(index, calls));
  return run_on_device(index, calls, chosen);
}

View PlanBuilder::preferred_view(const Node& node) const {
  for (const ValueId input : node.inputs) {
    if (input == kNoValue || graph_.constant(input)) continue;
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      if (tensor_values_[i] == input && plan_.tensors[i].row_numbers == 0) {
        return plan_.tensors[i].view;
      }
    }
  }
  return View::kChannelsFirst;
}

// What has no elements is wherever it is asked for.
void PlanBuilder::note_empty(int index) {
  for (const ValueId output : node_at(index).outputs) {
    if (output == kNoValue) continue;
    const auto& shape = graph_.values[static_cast<size_t>(output)].shape;
    if (shape && elements_of(*shape) == 0) on_host_[static_cast<size_t>(output)] = true;
  }
}

Status PlanBuilder::run_on_host(int index) {
  for (const ValueId input : node_at(index).inputs) {
    if (input != kNoValue) CLVET_RETURN_IF_ERROR(bring_to_host(input));
  }
  PlanStep step;
  step.kind = StepKind::kHost;
  step.node = index;
  add_step(std::move(step), 0);
  for (const ValueId output : node_at(index).outputs) {
    if (output != kNoValue) on_host_[static_cast<size_t>(output)] = true;
  }
  return {};
}

void PlanBuilder::add_step(PlanStep step, double ms, double launch_ms) {
  step.ms = ms;
  phase().ms += ms + launch_ms;
  phase().steps.push_back(std::move(step));
}

// What a caller gives is brought to the device for the nodes behind.
bool PlanBuilder::bring_given(ValueId input, const View& view, bool half) {
  const auto given = std::find(graph_.inputs.begin(), graph_.inputs.end(), input);
  const auto extent = view_of(*graph_.values[static_cast<size_t>(input)].shape, view);
  if (given == graph_.inputs.end() || !extent) return true;
  const TensorRole role = activation_role(*extent);
  const Storage storage =
      fits_an_image(role, chooser_.features()) ? plan_.combination.activations : Storage::kBuffer;
  const Wanted wanted{role, view, 0, storage, half};
  return want_value(input, wanted).has_value();
}

bool PlanBuilder::alias(int index, const Lowering& lowering) {
  const Node& node = node_at(index);
  const ValueId input = node.inputs[static_cast<size_t>(lowering.source.input)];
  const ValueId output = node.outputs[0];
  const Precision precision = node.is_step ? Precision::kHigh : plan_.combination.precision;
  if (!bring_given(input, lowering.source.view, stores_half(precision))) return false;
  const Shape& from_shape = *graph_.values[static_cast<size_t>(input)].shape;
  const Shape& to_shape = *graph_.values[static_cast<size_t>(output)].shape;
  const auto to = view_of(to_shape, lowering.view);
  if (!to) return false;
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    const DeviceTensor& source = plan_.tensors[i];
    if (tensor_values_[i] != input || source.constant || source.row_numbers > 0 ||
        !same_order(from_shape, source.view, lowering.source.view)) {
      continue;
    }
    if (source.extent.c != to->c || source.extent.rows() != to->rows()) continue;
    DeviceTensor target = seen_as(source, to_shape, lowering.view, *to);
    target.alias = alias_root(static_cast<int>(i));
    add_tensor(std::move(target), output);
    phase().nodes.back().place = Place::kAlias;
    return true;
  }
  return false;
}

int PlanBuilder::alias_root(int tensor) const {
  return tensor_at(tensor).alias < 0 ? tensor : tensor_at(tensor).alias;
}

Status PlanBuilder::run_on_device(int index, const std::vector<LoweredCall>& calls,
                                  const std::vector<ChosenVariant>& chosen) {
  PlannedNode& planned = phase().nodes.back();
  planned.place = Place::kDevice;
  const bool timed = std::all_of(chosen.begin(), chosen.end(),
                                 [](const ChosenVariant& one) { return one.ms > 0; });
  for (const ChosenVariant& one : chosen) {
    if (timed) planned.ms += one.ms + chooser_.cost().node_launch_ms();
  }
  note_empty(index);
  std::vector<int> made;
  for (size_t i = 0; i < calls.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(const int output, add_call(index, calls[i], chosen[i], made));
    made.push_back(output);
  }
  return {};
}

Result<int> PlanBuilder::input_tensor(const Node& node, const LoweredCall& lowered,
                                      const CallArg& arg, const TensorRole& role, bool half,
                                      const std::vector<int>& made) {
  if (arg.kind == ArgKind::kIndices) return index_tensor(node, lowered, role);
  const auto input = std::find_if(lowered.inputs.begin(), lowered.inputs.end(),
                                  [&](const LoweredInput& row) { return row.role == arg.name; });
  if (input == lowered.inputs.end()) return unknown_role(node, arg.name);
  const Wanted wanted{role, input->view, input->rank, arg.storage, half && !role.in_float};
  if (input->input >= 0) {
    return want_value(node.inputs[static_cast<size_t>(input->input)], wanted);
  }
  const int converted = convert(made.at(static_cast<size_t>(-1 - input->input)), wanted);
  if (converted < 0) {
    return fail(fixed_ ? ErrorCode::kInvalidArgument : ErrorCode::kInternal,
                "node '{}': no kernel can store '{}' as it is needed", node.name, arg.name);
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

Result<int> PlanBuilder::add_call(int index, const LoweredCall& lowered,
                                  const ChosenVariant& chosen, const std::vector<int>& made) {
  const Node& node = node_at(index);
  const auto roles = find_op_contract(lowered.op)->roles(lowered.dims);
  if (!roles) return wrap(roles.error(), node.name);
  const bool half = stores_half(chosen.variant().precision);
  PlanStep step = kernel_step(index, lowered, chosen);
  int made_here = -1;
  for (const CallArg& arg : chosen.call.args) {
    if (is_number(arg) || arg.kind == ArgKind::kScales) continue;
    const TensorRole* role = role_of(*roles, arg);
    if (!role) return unknown_role(node, arg.name);
    if (arg.kind == ArgKind::kInput || arg.kind == ArgKind::kIndices) {
      CLVET_ASSIGN_OR_RETURN(step.tensors[role->name],
                             input_tensor(node, lowered, arg, *role, half, made));
    } else if (arg.kind == ArgKind::kOutput) {
      made_here = step.tensors[role->name] = add_output(node, lowered, *role, arg, half);
    } else {
      step.constants[role->name] = add_constant(index, lowered, role->name);
    }
  }
  add_step(std::move(step), chosen.ms, chosen.launch_ms);
  return made_here;
}

int PlanBuilder::add_output(const Node& node, const LoweredCall& lowered, const TensorRole& role,
                            const CallArg& arg, bool half) {
  DeviceTensor output;
  output.extent = {role.n, role.h, role.w, role.c};
  output.storage = arg.storage;
  output.half = half;
  if (lowered.output == kTemporary) {
    const bool plain = lowered.temporary.empty();
    output.shape = plain ? Shape{role.n, role.h, role.w, role.c} : lowered.temporary;
    output.view = plain ? View::kChannelsLast : lowered.view;
    return add_tensor(std::move(output), kNoValue);
  }
  const ValueId value = node.outputs[static_cast<size_t>(lowered.output)];
  output.shape = *graph_.values[static_cast<size_t>(value)].shape;
  output.view = lowered.view;
  return add_tensor(std::move(output), value);
}

int PlanBuilder::add_constant(int index, const LoweredCall& lowered, const std::string& role) {
  ConstantRecipe recipe;
  for (const LoweredConstant& row : lowered.constants) {
    if (row.role == role) recipe = {ConstantSource::kNode, index, role, row.part};
  }
  plan_.constants.push_back(std::move(recipe));
  return static_cast<int>(plan_.constants.size()) - 1;
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
  for (size_t i = 0; i < phase().steps.size(); ++i) {
    const PlanStep& step = phase().steps[i];
    if (step.tensor >= 0) touch(step.tensor, static_cast<int>(i));
    for (const auto& [role, tensor] : step.tensors) touch(tensor, static_cast<int>(i));
  }
  const SlotPlan slots = plan_slots(lifetimes);
  plan_.slot_bytes = slots.slot_bytes;
  for (size_t i = 0; i < plan_.tensors.size(); ++i) {
    plan_.tensors[i].slot = slots.slots[static_cast<size_t>(alias_root(static_cast<int>(i)))];
  }
}

}  // namespace clvet
