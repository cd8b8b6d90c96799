// Quantised numbers stay floats on a device, from the node that rounds to levels to those that read
// them.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
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
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"

namespace clvet {
namespace {

bool is_step_of(const Node& node, std::string_view op) {
  return node.domain == kStepsDomain && node.op == op;
}

bool is_narrow(std::optional<DType> dtype) {
  return dtype == DType::kI8 || dtype == DType::kU8 || dtype == DType::kI16 || dtype == DType::kU16;
}

// The graph, and of each value of integers the floats that it was made of.
class FloatsOf {
 public:
  explicit FloatsOf(Graph& graph) : graph_(graph) {}
  void run();

 private:
  Value& value(ValueId id) { return graph_.values[static_cast<size_t>(id)]; }
  bool is_output(ValueId id) const { return graph_.is_output(id); }
  ValueId floats(ValueId id) const {
    const auto found = floats_.find(id);
    return found == floats_.end() ? kNoValue : found->second;
  }
  bool widens(const Node& node) const;
  bool moves(const Node& node);
  // The node on floats, with what makes its integers of them behind it; false: it stays.
  bool moved(const Node& node, std::vector<Node>& nodes);

  Graph& graph_;
  std::map<ValueId, ValueId> floats_;
};

// It makes floats of levels that were floats.
bool FloatsOf::widens(const Node& node) const {
  const bool cast = node.domain.empty() && node.op == "Cast" &&
                    node.int_attr("to", 0) == onnx_of_dtype(DType::kF32);
  return (cast || is_step_of(node, kAsFloats)) && node.activation.act == Act::kNone &&
         floats(node.inputs[0]) != kNoValue && !is_output(node.outputs[0]);
}

// Its output has elements of its inputs of the same type, some of which were floats.
bool FloatsOf::moves(const Node& node) {
  if (!node.def || !node.domain.empty() || !node.graphs().empty() || node.captured > 0 ||
      node.activation.act != Act::kNone)
    return false;
  if (!node.def->moves_elements && node.op != "MaxPool") return false;
  const auto dtype = value(node.outputs[0]).dtype;
  if (!is_narrow(dtype)) return false;
  bool any = false;
  for (const ValueId id : node.inputs) {
    if (id == kNoValue || value(id).dtype != dtype) continue;
    if (floats(id) == kNoValue && !value(id).constant) return false;
    any = any || floats(id) != kNoValue;
  }
  return any && std::ranges::all_of(node.outputs, [&](ValueId id) {
           return id != kNoValue && value(id).dtype == dtype && value(id).shape;
         });
}

bool FloatsOf::moved(const Node& node, std::vector<Node>& nodes) {
  const DType dtype = *value(node.outputs[0]).dtype;
  Node own = node;
  own.is_step = true;
  for (ValueId& id : own.inputs) {
    if (id == kNoValue || value(id).dtype != dtype) continue;
    if (floats(id) != kNoValue) {
      id = floats(id);
      continue;
    }
    const auto wide = add_as_floats(graph_, id);
    if (!wide) return false;
    id = *wide;
  }
  for (ValueId& id : own.outputs) {
    const Shape shape = *value(id).shape;
    id = graph_.add_value(graph_.unique_name(value(id).name + "/floats"));
    value(id).dtype = DType::kF32;
    value(id).shape = shape;
  }
  const auto call = call_of(graph_, own);
  if (!call || !has_kernel(*call)) return false;
  nodes.push_back(own);
  for (size_t i = 0; i < own.outputs.size(); ++i) {
    Node back;
    back.name = graph_.unique_name(node.name + "/" + std::string(kAsIntegers));
    back.opset = own.opset;
    become_step(back, kAsIntegers, {own.outputs[i]}, {{"to", onnx_of_dtype(dtype)}});
    back.outputs = {node.outputs[i]};
    back.is_step = true;
    floats_[node.outputs[i]] = own.outputs[i];
    nodes.push_back(std::move(back));
  }
  return true;
}

void FloatsOf::run() {
  std::vector<Node> nodes;
  const std::vector<Node> before = graph_.nodes;
  std::map<ValueId, ValueId> same;
  for (const Node& node : before) {
    if (is_step_of(node, kAsIntegers)) floats_[node.outputs[0]] = node.inputs[0];
    if (widens(node))
      same[node.outputs[0]] = floats(node.inputs[0]);
    else if (!moves(node) || !moved(node, nodes))
      nodes.push_back(node);
  }
  graph_.nodes = std::move(nodes);
  for (const auto& [from, to] : same) replace_uses(graph_, from, to);
}

bool same_number(const Graph& graph, ValueId a, ValueId b) {
  if (a == b) return true;
  const auto one = scalar_of(graph, a), other = scalar_of(graph, b);
  return one && other && *one == *other;
}

// What a node makes of levels: the kind of Levels that is both; -1: something else.
int64_t kind_behind(const Graph& graph, const Node& levels, const Node& node) {
  if (!node.domain.empty() || node.activation.act != Act::kNone || node.inputs.size() != 2 ||
      node.inputs[0] != levels.outputs[0])
    return -1;
  const auto& own = graph.values[static_cast<size_t>(levels.outputs[0])].shape;
  if (!own || graph.values[static_cast<size_t>(node.outputs[0])].shape != own) return -1;
  const int64_t kind = levels.int_attr("kind", 0);
  if (node.op == "Sub" && kind == 0 && same_number(graph, node.inputs[1], levels.inputs[2]))
    return 1;
  const bool centred = kind == 1 || (kind == 0 && scalar_of(graph, levels.inputs[2]) == 0.0);
  return node.op == "Mul" && centred && same_number(graph, node.inputs[1], levels.inputs[1]) ? 2
                                                                                             : -1;
}

// Levels less the zero point, and times the scale, from the same input. Each is there once.
void join_levels(Graph& graph) {
  std::map<std::pair<ValueId, int64_t>, ValueId> made;  // by the plain levels and the kind
  std::map<ValueId, std::pair<ValueId, size_t>> from;   // levels: the plain ones, the node
  std::vector<std::pair<ValueId, ValueId>> same;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    Node& node = graph.nodes[n];
    if (is_step_of(node, kLevels)) from[node.outputs[0]] = {node.outputs[0], n};
    for (ValueId& id : node.inputs) {
      for (const auto& [old, now] : same) id = id == old ? now : id;
    }
    const auto found = node.inputs.empty() ? from.end() : from.find(node.inputs[0]);
    if (found == from.end()) continue;
    const auto [plain, at] = found->second;
    const Node levels = graph.nodes[at];
    const int64_t kind = kind_behind(graph, levels, node);
    if (kind < 0) continue;
    const ValueId out = node.outputs[0];
    if (const auto known = made.find({plain, kind}); known != made.end() && !graph.is_output(out)) {
      same.emplace_back(out, known->second);
      continue;
    }
    const std::string name = node.name;
    node = levels;
    node.name = name;
    node.attributes["kind"] = kind;
    node.outputs = {out};
    made[{plain, kind}] = out;
    from[out] = {plain, n};
  }
}

// Whether the elements of its output are elements of input 0.
bool only_moves(const Node& node) {
  constexpr std::array<std::string_view, 8> ops = {"Identity",  "Reshape",   "Flatten", "Squeeze",
                                                   "Unsqueeze", "Transpose", "Slice",   "MaxPool"};
  return node.def && node.domain.empty() && node.activation.act == Act::kNone &&
         node.outputs.size() == 1 && std::ranges::find(ops, node.op) != ops.end();
}

// What was rounded to the same levels before, and only moved since, is there already.
bool is_rounded(const Graph& graph, const Links& links, const Node& levels) {
  const auto made_by = [&](ValueId id) -> const Node* {
    const int n = links.producer[static_cast<size_t>(id)];
    return n < 0 ? nullptr : &graph.nodes[static_cast<size_t>(n)];
  };
  const Node* before = made_by(levels.inputs[0]);
  while (before && only_moves(*before)) before = made_by(before->inputs[0]);
  return before && is_step_of(*before, kLevels) &&
         before->int_attr("kind", 0) == levels.int_attr("kind", 0) &&
         before->float_attr("lo", 0) == levels.float_attr("lo", 0) &&
         before->float_attr("hi", 0) == levels.float_attr("hi", 0) &&
         same_number(graph, before->inputs[1], levels.inputs[1]) &&
         same_number(graph, before->inputs[2], levels.inputs[2]);
}

void drop_repeated_levels(Graph& graph) {
  const Links links(graph);
  for (const Node& node : graph.nodes) {
    if (!is_step_of(node, kLevels) || node.int_attr("kind", 0) != 2) continue;
    if (!graph.is_output(node.outputs[0]) && is_rounded(graph, links, node))
      replace_uses(graph, node.outputs[0], node.inputs[0]);
  }
}

// A step of 8 bits is so wide that a value which was rounded to half often becomes another level,
// and so does more in the layer behind it: all that leads to such levels is at high.
void raise_what_is_rounded(Graph& graph) {
  std::vector<bool> leads(graph.values.size());
  for (size_t n = graph.nodes.size(); n-- > 0;) {
    Node& node = graph.nodes[n];
    const bool wide =
        is_step_of(node, kLevels) && node.float_attr("hi", 0) - node.float_attr("lo", 0) < 256;
    const bool raised = wide || std::ranges::any_of(node.outputs, [&](ValueId id) {
                          return id != kNoValue && leads[static_cast<size_t>(id)];
                        });
    if (!raised) continue;
    node.is_step = true;
    for (const ValueId id : node.inputs) {
      if (id != kNoValue) leads[static_cast<size_t>(id)] = true;
    }
  }
}

}  // namespace

void carry_levels(Graph& graph) {
  FloatsOf(graph).run();
  remove_dead_code(graph);
  join_levels(graph);
  drop_repeated_levels(graph);
  remove_dead_code(graph);
  raise_what_is_rounded(graph);
}

}  // namespace clvet
