#include "runtime/graph/passes/match.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {

ValueId input_of(const Node& node, size_t i) {
  return i < node.inputs.size() ? node.inputs[i] : kNoValue;
}

int only_consumer(const Graph& graph, const Links& links, ValueId value) {
  if (graph.is_output(value) || links.consumers[value].size() != 1) return -1;
  return links.consumers[value][0];
}

const Node* maker(const Graph& graph, const Links& links, ValueId value) {
  const int producer = value == kNoValue ? -1 : links.producer[value];
  if (producer < 0) return nullptr;
  const Node& node = graph.nodes[producer];
  return node.domain.empty() && node.activation.act == Act::kNone ? &node : nullptr;
}

const Node* maker(const Graph& graph, const Links& links, ValueId value, std::string_view op) {
  const Node* node = maker(graph, links, value);
  return node && node->op == op ? node : nullptr;
}

const Node* only_for_one(const Graph& graph, const Links& links, ValueId value,
                         std::initializer_list<std::string_view> ops) {
  const int producer = value == kNoValue ? -1 : links.producer[value];
  if (producer < 0 || only_consumer(graph, links, value) < 0) return nullptr;
  const Node& node = graph.nodes[producer];
  const bool wanted = node.domain.empty() && !node.is_step && node.outputs.size() == 1 &&
                      std::ranges::find(ops, node.op) != ops.end();
  return wanted ? &node : nullptr;
}

std::optional<double> scalar_of(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.constant(value);
  if (!tensor || tensor->elements() != 1) return std::nullopt;
  return tensor->to_f64()[0];
}

bool bias_fits(const Graph& graph, const Node& conv, int64_t channels) {
  if (conv.inputs.size() < 3 || conv.inputs[2] == kNoValue) return true;
  const Tensor* bias = graph.constant(conv.inputs[2]);
  return bias && bias->type() == TensorType{DType::kF32, {channels}};
}

const Tensor* pixel_filters(const Graph& graph, const Node& conv) {
  const Tensor* w = graph.constant(conv.inputs[1]);
  const std::vector<int64_t>* pads = conv.ints_attr("pads");
  const bool are = w && w->rank() == 4 && w->dtype() == DType::kF32 && w->shape()[2] == 1 &&
                   w->shape()[3] == 1 && conv.int_attr("group", 1) == 1 &&
                   bias_fits(graph, conv, w->shape()[0]) &&
                   (!pads || std::ranges::all_of(*pads, [](int64_t pad) { return pad == 0; }));
  return are ? w : nullptr;
}

int constant_side(const Graph& graph, const Node& node) {
  if (!node.domain.empty() || node.inputs.size() != 2 || node.inputs[0] == kNoValue ||
      node.inputs[1] == kNoValue)
    return -1;
  const bool left = graph.constant(node.inputs[0]), right = graph.constant(node.inputs[1]);
  if (left == right) return -1;
  return left ? 0 : 1;
}

bool adds_axis(const Graph& graph, const Node& node, int side) {
  const size_t rank = graph.constant(node.inputs[side])->shape().size();
  const auto& other = graph.values[node.inputs[1 - side]].shape;
  return rank > 1 || (rank == 1 && other && other->empty());
}

std::optional<Activation> scalar_affine_of(const Graph& graph, const Node& node) {
  const int side = constant_side(graph, node);
  if (side < 0) return std::nullopt;
  const auto c = scalar_of(graph, node.inputs[side]);
  const Tensor* tensor = graph.constant(node.inputs[side]);
  if (!c || adds_axis(graph, node, side) || tensor->dtype() != DType::kF32) return std::nullopt;
  if (node.op == "Mul") return Activation{Act::kAffine, *c, 0};
  if (node.op == "Add") return Activation{Act::kAffine, 1, *c};
  if (node.op == "Sub" && side == 1) return Activation{Act::kAffine, 1, -*c};
  if (node.op == "Div" && side == 1 && *c != 0) return Activation{Act::kAffine, 1 / *c, 0};
  return std::nullopt;
}

Result<ValueId> add_as_floats(Graph& graph, ValueId constant) {
  const Value& value = graph.values[static_cast<size_t>(constant)];
  CLVET_ASSIGN_OR_RETURN(const Tensor wide, value.constant->cast(DType::kF32));
  return graph.add_constant(graph.unique_name(value.name + "/floats"), wide);
}

Tensor narrowed(const Shape& shape, const Values& values) {
  const std::vector<float> floats(values.begin(), values.end());
  return Tensor::from(shape, std::span<const float>(floats));
}

ValueId insert_node(Graph& graph, int before, const char* op, std::vector<ValueId> inputs,
                    Attributes attributes, const Shape& shape) {
  Node node = graph.nodes[before];
  node.name = graph.unique_name(node.name + "/" + op);
  const ValueId value = graph.add_value(node.name);
  graph.values[value].dtype = graph.values[inputs[0]].dtype;
  graph.values[value].shape = shape;
  become(node, op, std::move(inputs), std::move(attributes));
  node.activation = {};
  node.outputs = {value};
  graph.nodes.insert(graph.nodes.begin() + before, std::move(node));
  return value;
}

void become(Node& node, const char* op, std::vector<ValueId> inputs, Attributes attributes) {
  node.op = op;
  node.domain.clear();
  node.def = find_op("", op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
}

void become_step(Node& node, std::string_view op, std::vector<ValueId> inputs,
                 Attributes attributes) {
  node.op = op;
  node.domain = kStepsDomain;
  node.def = find_op(kStepsDomain, op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
}

}  // namespace clvet
