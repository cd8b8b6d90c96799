// Sums of integers that only become floats again are floats on a device, with what is added to
// them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

template <size_t N>
bool is_one_of(const std::string& op, const std::array<std::string_view, N>& ops) {
  return std::ranges::find(ops, op) != ops.end();
}

bool is_plain(const Node& node) {
  return node.def && node.domain.empty() && node.activation.act == Act::kNone;
}

bool is_product(const Node& node) {
  return is_plain(node) && (node.op == "ConvInteger" || node.op == "MatMulInteger");
}

bool casts_to(const Node& node, DType dtype) {
  return is_plain(node) && node.op == "Cast" && node.int_attr("to", 0) == onnx_of_dtype(dtype);
}

// Adds or moves integers: whatever it reads of that type stays of that type.
bool passes_on(const Node& node) {
  constexpr std::array<std::string_view, 6> ops = {"Add",     "Reshape", "Unsqueeze",
                                                   "Squeeze", "Flatten", "Transpose"};
  return is_plain(node) && is_one_of(node.op, ops);
}

// Which values of 32 bits can be floats from start to end.
class Sums {
 public:
  explicit Sums(Graph& graph) : graph_(graph), links_(graph) {}
  Status run();

 private:
  const Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  // Constants that rewrite() adds are beyond its end.
  bool carried(ValueId id) const {
    return id >= 0 && static_cast<size_t>(id) < carried_.size() &&
           carried_[static_cast<size_t>(id)];
  }
  bool can_make(const Node& node) const;
  bool can_read(const Node& node) const;
  void find();
  void keep_what_joins_sums();
  void scale_at_high();
  Status rewrite(Node& node);

  Graph& graph_;
  Links links_;
  std::vector<bool> carried_;  // by value
};

// Floats without a fraction become integers: the same numbers.
bool Sums::can_make(const Node& node) const {
  if (is_product(node)) return true;
  if (casts_to(node, DType::kI32)) {
    constexpr std::array<std::string_view, 3> ops = {"Floor", "Ceil", "Round"};
    const Node* before = maker(graph_, links_, node.inputs[0]);
    return before && is_one_of(before->op, ops) && value(node.inputs[0]).dtype == DType::kF32;
  }
  return passes_on(node) && std::ranges::all_of(node.inputs, [&](ValueId id) {
           return id == kNoValue || value(id).dtype != DType::kI32 || value(id).constant ||
                  carried(id);
         });
}

bool Sums::can_read(const Node& node) const {
  return casts_to(node, DType::kF32) || (passes_on(node) && carried(node.outputs[0]));
}

void Sums::find() {
  carried_.resize(graph_.values.size());
  for (size_t id = 0; id < carried_.size(); ++id) {
    carried_[id] = value(static_cast<ValueId>(id)).dtype == DType::kI32 &&
                   links_.producer[id] >= 0 && !graph_.is_output(static_cast<ValueId>(id));
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t id = 0; id < carried_.size(); ++id) {
      if (!carried_[id]) continue;
      const Node& node = graph_.nodes[static_cast<size_t>(links_.producer[id])];
      const auto& readers = links_.consumers[id];
      const bool stays =
          node.outputs.size() == 1 && can_make(node) && std::ranges::all_of(readers, [&](int n) {
            return can_read(graph_.nodes[static_cast<size_t>(n)]);
          });
      if (!stays) carried_[id] = false;
      changed = changed || !stays;
    }
  }
}

// The others keep the range of their integers.
void Sums::keep_what_joins_sums() {
  std::vector<bool> joins(carried_.size());
  bool changed = false;
  const auto join = [&](ValueId id) {
    if (!carried(id) || joins[static_cast<size_t>(id)]) return;
    joins[static_cast<size_t>(id)] = changed = true;
  };
  do {
    changed = false;
    for (const Node& node : graph_.nodes) {
      const auto is_joined = [&](ValueId id) {
        return carried(id) && joins[static_cast<size_t>(id)];
      };
      if (is_product(node) || std::ranges::any_of(node.inputs, is_joined)) join(node.outputs[0]);
      if (is_joined(node.outputs[0])) std::ranges::for_each(node.inputs, join);
    }
  } while (changed);
  carried_ = joins;
}

// From the scales of what is quantised as it runs to what they scale: sums are beyond half's range,
// and products of scales below it.
void Sums::scale_at_high() {
  constexpr std::array<std::string_view, 9> ops = {
      "Mul", "Div", "Add", "Floor", "Cast", "Reshape", "Unsqueeze", "Squeeze", "Identity"};
  std::vector<bool> scales(graph_.values.size()), sums(graph_.values.size());
  for (Node& node : graph_.nodes) {
    if (is_plain(node) && node.op == "DynamicQuantizeLinear" && node.outputs.size() > 1)
      scales[static_cast<size_t>(node.outputs[1])] = true;
    bool of_scale = false, of_sum = false, of_else = false;
    for (const ValueId id : node.inputs) {
      if (id == kNoValue || value(id).constant) continue;
      of_scale = of_scale || scales[static_cast<size_t>(id)];
      of_else = of_else || !scales[static_cast<size_t>(id)];
      of_sum = of_sum || sums[static_cast<size_t>(id)] || carried(id);
    }
    if (!is_plain(node) || !is_one_of(node.op, ops) || (!of_scale && !of_sum)) continue;
    node.is_step = true;
    const bool scaled = node.op == "Mul" || node.op == "Div";
    if (of_sum && !scaled) sums[static_cast<size_t>(node.outputs[0])] = true;
    if (!of_sum && !of_else) scales[static_cast<size_t>(node.outputs[0])] = true;
  }
}

Status Sums::rewrite(Node& node) {
  const bool reads = std::ranges::any_of(node.inputs, [&](ValueId id) { return carried(id); });
  const bool makes = !node.outputs.empty() && carried(node.outputs[0]);
  if (!reads && !makes) return {};
  if (is_product(node)) {
    become_step(node, node.op == "ConvInteger" ? kConvSums : kMatMulSums, std::move(node.inputs),
                std::move(node.attributes));
  } else if (node.op == "Cast") {
    become(node, "Identity", {node.inputs[0]}, {});
  } else {
    for (ValueId& id : node.inputs) {
      if (id == kNoValue || value(id).dtype != DType::kI32 || !value(id).constant) continue;
      CLVET_ASSIGN_OR_RETURN(id, add_as_floats(graph_, id));
    }
  }
  node.is_step = true;
  if (makes) graph_.values[static_cast<size_t>(node.outputs[0])].dtype = DType::kF32;
  return {};
}

Status Sums::run() {
  if (std::ranges::none_of(graph_.nodes, is_product)) return {};
  find();
  keep_what_joins_sums();
  scale_at_high();
  for (Node& node : graph_.nodes) CLVET_RETURN_IF_ERROR(rewrite(node));
  return {};
}

}  // namespace

Status carry_sums(Graph& graph) { return Sums(graph).run(); }

}  // namespace clvet
