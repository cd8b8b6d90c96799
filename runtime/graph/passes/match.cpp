#include "runtime/graph/passes/match.h"

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/op_def.h"

namespace clvet {

int only_consumer(const Graph& graph, const Links& links, ValueId value) {
  if (graph.is_output(value) || links.consumers[value].size() != 1) return -1;
  return links.consumers[value][0];
}

std::optional<double> scalar_of(const Graph& graph, ValueId value) {
  const Tensor* tensor = graph.constant(value);
  if (!tensor || tensor->elements() != 1) return std::nullopt;
  return tensor->to_f64()[0];
}

int constant_side(const Graph& graph, const Node& node) {
  if (node.inputs.size() != 2) return -1;
  const bool left = graph.constant(node.inputs[0]), right = graph.constant(node.inputs[1]);
  if (left == right) return -1;
  return left ? 0 : 1;
}

std::optional<Activation> scalar_affine_of(const Graph& graph, const Node& node) {
  const int side = constant_side(graph, node);
  if (side < 0) return std::nullopt;
  const auto c = scalar_of(graph, node.inputs[side]);
  const Tensor* tensor = graph.constant(node.inputs[side]);
  if (!c || tensor->rank() > 1 || tensor->dtype() != DType::kF32) return std::nullopt;
  if (node.op == "Mul") return Activation{Act::kAffine, *c, 0};
  if (node.op == "Add") return Activation{Act::kAffine, 1, *c};
  if (node.op == "Sub" && side == 1) return Activation{Act::kAffine, 1, -*c};
  if (node.op == "Div" && side == 1 && *c != 0) return Activation{Act::kAffine, 1 / *c, 0};
  return std::nullopt;
}

Tensor narrowed(const Shape& shape, const Values& values) {
  const std::vector<float> floats(values.begin(), values.end());
  return Tensor::from(shape, std::span<const float>(floats));
}

void become(Node& node, const char* op, std::vector<ValueId> inputs, Attributes attributes) {
  node.op = op;
  node.domain.clear();
  node.def = find_op("", op);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
}

}  // namespace clvet
