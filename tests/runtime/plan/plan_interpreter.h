// Runs the plan of a network in float64, each kernel as its op's reference has it. Memory objects
// are what the plan says they are, so that tensors that share one by mistake spoil each other.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "kernels/call.h"
#include "kernels/catalog.h"
#include "kernels/combination.h"
#include "kernels/contract.h"
#include "kernels/layout.h"
#include "probe/report/device_features.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/plan/launch.h"
#include "runtime/plan/plan.h"
#include "runtime/plan/variant_table.h"

namespace clvet::test {

class PlanInterpreter {
 public:
  PlanInterpreter(const Graph& graph, const ExecutionPlan& plan, const VariantTable& table,
                  const DeviceFeatures& features)
      : graph_(graph), plan_(plan), table_(table), features_(features) {}

  // The outputs by name; faults are reported as failures of the test.
  std::map<std::string, Tensor> run(const std::map<std::string, Tensor>& inputs) {
    for (const Value& value : graph_.values) {
      if (value.constant) host_[value.name] = *value.constant;
    }
    for (const auto& [name, tensor] : inputs) host_[name] = tensor;
    check_memory();
    for (const PlanStep& step : plan_.phases.front().steps) run_step(step);
    std::map<std::string, Tensor> outputs;
    for (const ValueId id : graph_.outputs) {
      const std::string& name = graph_.values[static_cast<size_t>(id)].name;
      EXPECT_TRUE(host_.contains(name)) << "output " << name << " is not on the host";
      outputs[name] = host_[name];
    }
    return outputs;
  }

 private:
  // What one memory object holds: rows of c values.
  struct Memory {
    std::vector<double> values;
    bool written = false;
  };

  const DeviceTensor& tensor(int index) const {
    return plan_.tensors.at(static_cast<size_t>(index));
  }
  Memory& memory(int index) {
    const DeviceTensor& row = tensor(index);
    if (row.slot >= 0) return slots_[row.slot];
    return own_[row.alias >= 0 ? row.alias : index];
  }

  void check_memory() const {
    for (const DeviceTensor& row : plan_.tensors) {
      if (row.storage == Storage::kImage) {
        const ImageExtent image = activation_extent(clvet::role_of(row));
        EXPECT_LE(image.width, features_.image_width) << row.value;
        EXPECT_LE(image.height, features_.image_height) << row.value;
        EXPECT_EQ(row.slot, -1);
      }
      if (row.slot >= 0) {
        ASSERT_LT(static_cast<size_t>(row.slot), plan_.slot_bytes.size());
        EXPECT_GE(plan_.slot_bytes[static_cast<size_t>(row.slot)],
                  static_cast<int64_t>(device_bytes(row)))
            << row.value;
      }
      EXPECT_GE(row.alias, -1);
      if (row.alias >= 0) {
        EXPECT_EQ(tensor(row.alias).alias, -1) << "an alias of an alias";
        EXPECT_EQ(tensor(row.alias).slot, row.slot);
        EXPECT_EQ(tensor(row.alias).storage, row.storage);
        EXPECT_EQ(device_bytes(tensor(row.alias)), device_bytes(row));
      }
      const bool shares = row.storage == Storage::kBuffer && !row.constant;
      EXPECT_EQ(row.slot >= 0, shares) << row.value;
    }
  }

  void run_step(const PlanStep& step) {
    if (step.kind == StepKind::kUpload) return upload(step.tensor);
    if (step.kind == StepKind::kDownload) return download(step.tensor);
    if (step.kind == StepKind::kHost) return run_host(step.node);
    run_kernel(step);
  }

  void upload(int index) {
    const DeviceTensor& to = tensor(index);
    ASSERT_TRUE(host_.contains(to.value)) << to.value << " is not on the host";
    const Tensor& value = host_[to.value];
    EXPECT_EQ(to.constant, is_constant(to.value)) << to.value;
    Memory& memory = this->memory(index);
    memory.written = true;
    if (to.row_numbers > 0) {
      memory.values = value.to_f64();
      return;
    }
    const Tensor floats = *value.cast(DType::kF32);
    std::vector<float> ordered(static_cast<size_t>(value.elements()));
    EXPECT_EQ(elements_of(to.shape), value.elements()) << to.value;
    to_device_order(floats.data<float>(), to.shape, to.view, ordered.data());
    memory.values.assign(ordered.begin(), ordered.end());
  }

  bool is_constant(const std::string& name) const {
    return graph_.constant(graph_.find_value(name)) != nullptr;
  }

  void download(int index) {
    const DeviceTensor& from = tensor(index);
    const Memory& memory = this->memory(index);
    ASSERT_TRUE(memory.written) << from.value;
    ASSERT_FALSE(host_.contains(from.value)) << from.value << " was on the host";
    const TensorType type =
        *graph_.values[static_cast<size_t>(graph_.find_value(from.value))].type();
    Tensor value = Tensor::create(DType::kF32, type.shape).value();
    ASSERT_EQ(static_cast<size_t>(value.elements()), memory.values.size());
    const std::vector<float> ordered(memory.values.begin(), memory.values.end());
    from_device_order(ordered.data(), from.shape, from.view, value.data<float>());
    host_[from.value] = *value.cast(type.dtype);
  }

  void run_host(int index) {
    const Node& node = graph_.nodes.at(static_cast<size_t>(index));
    std::vector<const Tensor*> inputs;
    for (const ValueId id : node.inputs) {
      const std::string name = id == kNoValue ? "" : graph_.values[static_cast<size_t>(id)].name;
      ASSERT_TRUE(id == kNoValue || host_.contains(name)) << name << " is not on the host";
      inputs.push_back(id == kNoValue ? nullptr : &host_[name]);
    }
    auto outputs = run_node(node, inputs);
    ASSERT_TRUE(outputs) << outputs.error().message;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == kNoValue) continue;
      host_[graph_.values[static_cast<size_t>(node.outputs[i])].name] = (*outputs)[i];
    }
  }

  // That the tensor is what the kernel takes for this role.
  void check_argument(const PlanStep& step, const Launch& launch, const CallArg& arg,
                      const TensorRole& role, int index) const {
    const DeviceTensor& row = tensor(index);
    const std::string where = step.variant + " " + role.name + " " + row.value;
    if (role.kind == TensorKind::kIndices) {
      EXPECT_EQ(row.row_numbers, role.extent) << where;
      EXPECT_EQ(row.extent.c, role.c) << where;
      return;
    }
    EXPECT_EQ(row.row_numbers, 0) << where;
    EXPECT_EQ(row.storage, arg.storage) << where;
    EXPECT_EQ(row.half, stores_half(stored_as(role, launch.row->variant.precision))) << where;
    EXPECT_EQ(row.extent.c, role.c) << where;
    EXPECT_EQ(row.extent.rows(), role.n * role.h * role.w) << where;
    EXPECT_TRUE(row.storage == Storage::kBuffer || row.extent.w == role.w) << where;
  }

  Values constant(const PlanStep& step, const TensorRole& role) {
    const auto index = step.constants.find(role.name);
    EXPECT_NE(index, step.constants.end()) << step.variant << " has no constant " << role.name;
    const ConstantRecipe& recipe = plan_.constants.at(static_cast<size_t>(index->second));
    if (recipe.source == ConstantSource::kZeros) {
      return Values(static_cast<size_t>(role.elements()), 0.0);
    }
    EXPECT_EQ(recipe.source, ConstantSource::kNode);
    const Node& node = graph_.nodes.at(static_cast<size_t>(recipe.node));
    return node.def->constant(*call_of(graph_, node), {recipe.name, recipe.part});
  }

  void run_kernel(const PlanStep& step) {
    const auto launch = launch_of(table_, step, step.dims);
    ASSERT_TRUE(launch) << launch.error().message;
    CallValues values{step.dims, step.scalars, {}};
    int output = -1;
    std::set<std::string> used;
    for (const CallArg& arg : launch->call.args) {
      if (arg.kind == ArgKind::kInt || arg.kind == ArgKind::kFloat) continue;
      const TensorRole* role = role_of(launch->roles, arg);
      ASSERT_NE(role, nullptr) << step.variant << " " << arg.name;
      used.insert(role->name);
      if (role->kind == TensorKind::kWeights || role->kind == TensorKind::kVector) {
        values.tensors[role->name] = constant(step, *role);
        continue;
      }
      const auto index = step.tensors.find(role->name);
      ASSERT_NE(index, step.tensors.end()) << step.variant << " has no " << role->name;
      check_argument(step, *launch, arg, *role, index->second);
      if (role->kind == TensorKind::kOutput) {
        output = index->second;
        continue;
      }
      const Memory& from = memory(index->second);
      EXPECT_TRUE(from.written) << step.variant << " reads " << role->name << " too early";
      ASSERT_EQ(from.values.size(), static_cast<size_t>(role->elements()))
          << step.variant << " " << role->name << ": somebody else's values";
      values.tensors[role->name] = from.values;
    }
    EXPECT_EQ(used.size(), step.tensors.size() + step.constants.size()) << step.variant;
    ASSERT_GE(output, 0);
    memory(output) = {find_op_contract(step.op)->reference(values).value, true};
  }

  const Graph& graph_;
  const ExecutionPlan& plan_;
  const VariantTable& table_;
  const DeviceFeatures& features_;
  std::map<std::string, Tensor> host_;
  std::map<int, Memory> slots_, own_;
};

}  // namespace clvet::test
