#include "runtime/plan/planner.h"

#include <algorithm>
#include <map>

#include "runtime/graph/infer.h"
#include "runtime/graph/memory_plan.h"

namespace clvet {
namespace {

// Rough rates for what is not timed, only to rank plans.
constexpr double kDeviceBytesPerMs = 5e6;
constexpr double kTransferBytesPerMs = 1e6;
constexpr double kLaunchMs = 0.01;

int64_t dim_of(const Dims& dims, const char* name) {
  const auto found = dims.find(name);
  return found == dims.end() ? 0 : found->second;
}

// A 1x1 convolution of stride 1 is a matrix product over pixels, and one row of that is gemv.
void simplify(Lowering& lowering) {
  Dims& dims = lowering.dims;
  if (lowering.op == "conv2d") {
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
    lowering.op = "gemm";
    dims = std::move(gemm);
  }
  if (lowering.op == "gemm" && dim_of(dims, "M") == 1) {
    lowering.op = "gemv";
    dims.erase("M");
    dims.erase("W");
  }
}

bool same_extent(const TensorRole& a, const TensorRole& b) {
  return a.n == b.n && a.h == b.h && a.w == b.w && a.c == b.c;
}

// The same bytes in a buffer: the rows are counted alike, however they are split into n, h and w.
bool same_buffer(const TensorRole& a, const TensorRole& b) {
  return a.c == b.c && a.n * a.h * a.w == b.n * b.h * b.w;
}

class Builder {
 public:
  Builder(const Graph& graph, const VariantChooser& chooser, const Combination& combination)
      : graph_(graph), chooser_(chooser), on_host_(graph.values.size(), false) {
    plan_.combination = combination;
    for (size_t i = 0; i < graph.values.size(); ++i)
      on_host_[i] = graph.values[i].constant.has_value();
    for (const ValueId input : graph.inputs) on_host_[static_cast<size_t>(input)] = true;
  }

  Result<ExecutionPlan> build() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      CLVET_RETURN_IF_ERROR(place(static_cast<int>(i)));
    }
    for (const ValueId output : graph_.outputs) CLVET_RETURN_IF_ERROR(bring_to_host(output));
    share_buffers();
    return std::move(plan_);
  }

 private:
  const Node& node_at(int index) const { return graph_.nodes[static_cast<size_t>(index)]; }

  Status place(int index) {
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
    simplify(lowering);
    std::string reason;
    auto chosen =
        chooser_.choose(lowering.op, lowering.dims, lowering.scalars, plan_.combination, reason);
    if (!chosen) {
      planned.reason = reason;
      plan_.fallbacks.push_back({node.name, lowering.op, "host", reason});
      return run_on_host(index);
    }
    if (!chosen->instead_of.empty()) {
      plan_.fallbacks.push_back(
          {node.name, chosen->instead_of, chosen->variant.name(), chosen->verdict});
    }
    return run_on_device(index, lowering, std::move(*chosen));
  }

  View preferred_view(const Node& node) const {
    for (const DeviceTensor& tensor : plan_.tensors) {
      if (!node.inputs.empty() && tensor.value == node.inputs[0]) return tensor.view;
    }
    return View::kChannelsFirst;
  }

  Status run_on_host(int index) {
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

  Status bring_to_host(ValueId value) {
    if (on_host_[static_cast<size_t>(value)]) return {};
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      if (plan_.tensors[i].value != value) continue;
      PlanStep step;
      step.kind = StepKind::kDownload;
      step.tensor = static_cast<int>(i);
      plan_.estimated_ms += transfer_ms(plan_.tensors[i]);
      plan_.steps.push_back(std::move(step));
      on_host_[static_cast<size_t>(value)] = true;
      return {};
    }
    return fail(ErrorCode::kInternal, "no step makes '{}'",
                graph_.values[static_cast<size_t>(value)].name);
  }

  static double transfer_ms(const DeviceTensor& tensor) {
    return kLaunchMs + static_cast<double>(activation_bytes(tensor.role, tensor.precision)) /
                           kTransferBytesPerMs;
  }

  int add_tensor(ValueId value, const TensorRole& role, View view, Storage storage,
                 Precision precision) {
    DeviceTensor tensor;
    tensor.value = value;
    tensor.role = role;
    tensor.view = view;
    tensor.storage = storage;
    tensor.precision = stores_half(precision) ? Precision::kNormal : Precision::kHigh;
    plan_.tensors.push_back(std::move(tensor));
    return static_cast<int>(plan_.tensors.size()) - 1;
  }

  // A tensor that already holds `value` just so; buffers may split their rows otherwise.
  int find_tensor(ValueId value, const TensorRole& role, View view, Storage storage,
                  bool half) const {
    for (size_t i = 0; i < plan_.tensors.size(); ++i) {
      const DeviceTensor& tensor = plan_.tensors[i];
      const bool same_view = tensor.view == view || rank_of(value) <= 2;
      const bool fits = storage == Storage::kBuffer ? same_buffer(tensor.role, role)
                                                    : same_extent(tensor.role, role);
      if (tensor.value == value && same_view && tensor.storage == storage && fits &&
          stores_half(tensor.precision) == half) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  size_t rank_of(ValueId value) const {
    const auto& shape = graph_.values[static_cast<size_t>(value)].shape;
    return shape ? shape->size() : 9;
  }

  // The value on the device as wanted: found, copied between storages, or uploaded.
  Result<int> want_tensor(ValueId value, const TensorRole& role, View view, Storage storage,
                          Precision precision) {
    const bool half = stores_half(precision);
    if (const int found = find_tensor(value, role, view, storage, half); found >= 0) return found;
    const Storage other = storage == Storage::kBuffer ? Storage::kImage : Storage::kBuffer;
    if (const int source = find_tensor(value, role, view, other, half); source >= 0) {
      if (const int copied = copy_tensor(source, role, view, storage, precision); copied >= 0)
        return copied;
    }
    CLVET_RETURN_IF_ERROR(bring_to_host(value));
    const int added = add_tensor(value, role, view, storage, precision);
    DeviceTensor& tensor = plan_.tensors[static_cast<size_t>(added)];
    tensor.constant = graph_.values[static_cast<size_t>(value)].constant.has_value();
    PlanStep step;
    step.kind = StepKind::kUpload;
    step.tensor = added;
    plan_.steps.push_back(std::move(step));
    plan_.estimated_ms += tensor.constant ? 0 : transfer_ms(tensor);
    return added;
  }

  // -1 where no trusted kernel copies it.
  int copy_tensor(int source, const TensorRole& role, View view, Storage storage,
                  Precision precision) {
    const char* op = storage == Storage::kImage ? "copy_buffer_image" : "copy_image_buffer";
    const Dims dims = {{"N", role.n}, {"H", role.h}, {"W", role.w}, {"C", role.c}};
    Combination wanted = plan_.combination;
    wanted.precision = precision;
    wanted.activations = Storage::kImage;  // what the copies' manifests call themselves
    std::string reason;
    auto chosen = chooser_.choose(op, dims, {}, wanted, reason);
    if (!chosen || stores_half(chosen->variant.precision) != stores_half(precision)) return -1;
    const DeviceTensor from = plan_.tensors[static_cast<size_t>(source)];
    const int target = add_tensor(from.value, role, view, storage, precision);
    PlanStep step;
    step.kind = StepKind::kKernel;
    step.call = std::move(chosen->call);
    step.program = program_index(chosen->program);
    for (const CallArg& arg : step.call.args) {
      PlanStep::Object object;
      if (arg.kind == ArgKind::kInput) object.tensor = source;
      if (arg.kind == ArgKind::kOutput) object.tensor = target;
      step.objects.push_back(object);
    }
    plan_.estimated_ms += kernel_ms(0, 0, activation_bytes(role, precision) * 2);
    plan_.steps.push_back(std::move(step));
    return target;
  }

  bool alias(int index, const Lowering& lowering) {
    const Node& node = node_at(index);
    const ValueId input = node.inputs[static_cast<size_t>(lowering.inputs.at(0).input)];
    const auto from =
        view_of(*graph_.values[static_cast<size_t>(input)].shape, lowering.inputs[0].view);
    const auto to =
        view_of(*graph_.values[static_cast<size_t>(node.outputs[0])].shape, lowering.output);
    if (!from || !to) return false;
    const TensorRole source_role = activation_role(*from), target_role = activation_role(*to);
    if (!same_buffer(source_role, target_role)) return false;
    for (const bool half : {false, true}) {
      const int source =
          find_tensor(input, source_role, lowering.inputs[0].view, Storage::kBuffer, half);
      if (source < 0) continue;
      const int target = add_tensor(node.outputs[0], target_role, lowering.output, Storage::kBuffer,
                                    half ? Precision::kNormal : Precision::kHigh);
      alias_of_[target] = alias_root(source);
      plan_.nodes.back().place = Place::kAlias;
      ++plan_.device_nodes;
      return true;
    }
    return false;
  }

  int alias_root(int tensor) const {
    const auto found = alias_of_.find(tensor);
    return found == alias_of_.end() ? tensor : found->second;
  }

  static TensorRole activation_role(const Nhwc& extent) {
    TensorRole role;
    role.n = extent.n;
    role.h = extent.h;
    role.w = extent.w;
    role.c = extent.c;
    return role;
  }

  int program_index(const std::shared_ptr<const Program>& program) {
    for (size_t i = 0; i < plan_.programs.size(); ++i) {
      if (plan_.programs[i]->key == program->key) return static_cast<int>(i);
    }
    plan_.programs.push_back(program);
    return static_cast<int>(plan_.programs.size()) - 1;
  }

  static double kernel_ms(double flops, double gflops, size_t bytes) {
    const double arithmetic = gflops > 0 ? flops / gflops * 1e-6 : 0;
    return kLaunchMs + std::max(arithmetic, static_cast<double>(bytes) / kDeviceBytesPerMs);
  }

  Status run_on_device(int index, const Lowering& lowering, ChosenVariant chosen) {
    const Node& node = node_at(index);
    const auto roles = find_op_contract(lowering.op)->roles(lowering.dims);
    if (!roles) return wrap(roles.error(), node.name);
    PlanStep step;
    step.kind = StepKind::kKernel;
    step.node = index;
    step.program = program_index(chosen.program);
    double reduction = 1;
    size_t bytes = 0, outputs = 0;
    for (const CallArg& arg : chosen.call.args) {
      PlanStep::Object object;
      const TensorRole* role = find_role(*roles, arg);
      if (arg.kind == ArgKind::kInput) {
        const auto input =
            std::find_if(lowering.inputs.begin(), lowering.inputs.end(),
                         [&](const LoweredInput& row) { return row.role == arg.name; });
        if (!role || input == lowering.inputs.end()) return unknown_role(node, arg.name);
        CLVET_ASSIGN_OR_RETURN(object.tensor,
                               want_tensor(node.inputs[static_cast<size_t>(input->input)], *role,
                                           input->view, arg.storage, chosen.variant.precision));
        bytes += activation_bytes(*role, chosen.variant.precision);
      } else if (arg.kind == ArgKind::kOutput) {
        if (!role) return unknown_role(node, arg.name);
        object.tensor = add_tensor(node.outputs[0], *role, lowering.output, arg.storage,
                                   chosen.variant.precision);
        bytes += activation_bytes(*role, chosen.variant.precision);
        outputs = static_cast<size_t>(role->elements());
      } else if (arg.kind == ArgKind::kWeights || arg.kind == ArgKind::kVector) {
        if (!role) return unknown_role(node, arg.name);
        object.constant = add_constant(index, lowering, *role, arg, chosen.variant);
        if (arg.kind == ArgKind::kWeights) reduction = static_cast<double>(role->taps * role->cin);
      }
      step.objects.push_back(object);
    }
    step.call = std::move(chosen.call);
    plan_.steps.push_back(std::move(step));
    const double flops = 2 * reduction * static_cast<double>(outputs);
    plan_.estimated_ms += kernel_ms(flops, chosen.gflops, bytes);
    PlannedNode& planned = plan_.nodes.back();
    planned.place = Place::kDevice;
    planned.kernel = chosen.variant.name();
    planned.variant_key = chosen.program->key;
    ++plan_.device_nodes;
    return {};
  }

  static tl::unexpected<Error> unknown_role(const Node& node, const std::string& role) {
    return fail(ErrorCode::kInternal, "node '{}' has no tensor for the kernel's '{}'", node.name,
                role);
  }

  static const TensorRole* find_role(const std::vector<TensorRole>& roles, const CallArg& arg) {
    for (const TensorRole& role : roles) {
      if (arg.kind == ArgKind::kWeights ? role.kind == TensorKind::kWeights
                                        : role.name == arg.name) {
        return &role;
      }
    }
    return nullptr;
  }

  int add_constant(int index, const Lowering& lowering, const TensorRole& role, const CallArg& arg,
                   const Variant& variant) {
    DeviceConstant constant;
    constant.node = index;
    constant.role = role;
    constant.kind = arg.kind;
    constant.storage = arg.storage;
    constant.precision = variant.precision;
    constant.pack = variant.manifest->pack;
    for (const LoweredConstant& row : lowering.constants) {
      if (row.role == role.name) constant.make = row.make;
    }
    plan_.constants.push_back(std::move(constant));
    return static_cast<int>(plan_.constants.size()) - 1;
  }

  // Buffers that are never alive together share one memory object.
  void share_buffers() {
    std::vector<Lifetime> lifetimes(plan_.tensors.size());
    const auto touch = [&](int tensor, int step) {
      Lifetime& life = lifetimes[static_cast<size_t>(alias_root(tensor))];
      if (life.bytes == 0) {
        const DeviceTensor& row = plan_.tensors[static_cast<size_t>(alias_root(tensor))];
        const bool shared = row.storage == Storage::kBuffer && !row.constant;
        life = {shared ? static_cast<int64_t>(activation_bytes(row.role, row.precision)) : 0, step,
                step};
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

  const Graph& graph_;
  const VariantChooser& chooser_;
  std::vector<bool> on_host_;
  std::map<int, int> alias_of_;  // tensor -> tensor whose bytes it has
  ExecutionPlan plan_;
};

template <class T>
std::vector<T> choices(const std::optional<T>& fixed, std::initializer_list<T> all) {
  return fixed ? std::vector<T>{*fixed} : std::vector<T>(all);
}

// What ranks first: all wanted kernels trusted, then the time; a lower precision must earn its
// place.
double cost_of(const ExecutionPlan& plan, bool precision_chosen) {
  constexpr double kLowerPrecisionTax = 1.5;
  const bool taxed = precision_chosen && plan.combination.precision != Precision::kHigh;
  return plan.estimated_ms * (taxed ? kLowerPrecisionTax : 1);
}

}  // namespace

Result<ExecutionPlan> plan_for(const Graph& graph, const VariantChooser& chooser,
                               const Combination& combination) {
  return Builder(graph, chooser, combination).build();
}

ExecutionPlan plan_on_host(const Graph& graph, const std::string& reason) {
  ExecutionPlan plan;
  plan.combination = {Precision::kHigh, Memory::kNormal, Storage::kBuffer, Storage::kBuffer};
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    plan.nodes.push_back({graph.nodes[i].name, graph.nodes[i].op, Place::kHost, {}, {}, reason});
    PlanStep step;
    step.kind = StepKind::kHost;
    step.node = static_cast<int>(i);
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

Result<ExecutionPlan> plan_model(const Graph& graph, const VariantChooser& chooser,
                                 const PlanOverrides& overrides) {
  using enum Precision;
  std::optional<ExecutionPlan> best;
  for (const Precision precision : choices(overrides.precision, {kHigh, kNormal, kLow})) {
    for (const Storage activations :
         choices(overrides.activations, {Storage::kBuffer, Storage::kImage})) {
      for (const Storage weights :
           choices(overrides.weights, {Storage::kBuffer, Storage::kImage})) {
        const Combination combination{precision, overrides.memory.value_or(Memory::kNormal),
                                      activations, weights};
        CLVET_ASSIGN_OR_RETURN(ExecutionPlan plan, plan_for(graph, chooser, combination));
        if (plan.device_nodes == 0) continue;
        const auto rank = [&](const ExecutionPlan& row) {
          return std::pair(row.fallbacks.size(), cost_of(row, !overrides.precision));
        };
        if (!best || rank(plan) < rank(*best)) best = std::move(plan);
      }
    }
  }
  if (!best) {
    return fail(ErrorCode::kUnavailable, "no node of the model has a right kernel on this device");
  }
  return std::move(*best);
}

}  // namespace clvet
