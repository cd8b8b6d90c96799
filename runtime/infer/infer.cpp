#include "runtime/infer/infer.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/extents.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/branches.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {
namespace {

bool foldable(const OpCall& call, const std::vector<TensorType>& types) {
  int64_t bytes = 0;
  for (const TensorType& type : types) {
    bytes += elements_of(type.shape) * static_cast<int64_t>(size_of(type.dtype));
  }
  if (bytes > kMaxFoldedBytes) return false;
  if (!call.node.def->needs_values) return true;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const bool counts = call.has(i) && static_cast<int>(i) != call.node.def->type_only;
    if (counts && !call.inputs[i].value) return false;
  }
  return true;
}

Status fold(Graph& graph, const Node& node) {
  std::vector<Tensor> stand_ins(node.inputs.size());
  std::vector<const Tensor*> arguments;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId in = node.inputs[i];
    const Tensor* constant = graph.constant(in);
    if (!constant && in != kNoValue) {
      const TensorType type = *graph.values[in].type();
      stand_ins[i] = Tensor::wrap(type.dtype, type.shape, nullptr);
      constant = &stand_ins[i];
    }
    arguments.push_back(constant);
  }
  auto outputs = run_node(node, arguments);
  if (!outputs) return at_node(outputs.error(), node);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] != kNoValue) {
      graph.values[node.outputs[i]].constant = std::move((*outputs)[i]);
    }
  }
  return {};
}

void forget_types(Graph& graph) {
  for (const Node& node : graph.nodes) {
    for (const ValueId out : node.outputs) {
      if (out == kNoValue) continue;
      graph.values[out].dtype.reset();
      graph.values[out].shape.reset();
    }
  }
}

// Whether input `i` of the node is best known before planning.
bool wants_it_known(const Graph& graph, const Node& node, size_t i) {
  if (!node.def || !wants_known(*node.def, i)) return false;
  // How often a loop runs changes nothing in a plan.
  if (!node.graphs().empty() && !is_if(node)) return false;
  if (node.def->row_numbers != static_cast<int>(i)) return true;
  const auto dtype = graph.values[node.inputs[0]].dtype;
  return dtype != DType::kF32 && !(dtype && is_short_float(*dtype));
}

// How the readers of a value take it.
struct Uses {
  bool read = false;
  bool directly = true;  // each wants it known itself
  bool known = true;     // each does, or makes of it what only such readers take
};

// Only the type of that input counts.
bool reads_type_alone(const Node& node, size_t i) {
  return node.def && (!node.def->needs_values || node.def->type_only == static_cast<int>(i));
}

std::vector<Uses> uses_of_values(const Graph& graph) {
  std::vector<Uses> uses(graph.values.size());
  const auto of = [&](ValueId id) -> Uses& { return uses[static_cast<size_t>(id)]; };
  for (const ValueId output : graph.outputs) of(output).known = false;
  for (auto node = graph.nodes.rbegin(); node != graph.nodes.rend(); ++node) {
    // A branch may read anything.
    const bool leads_on =
        node->graphs().empty() && std::ranges::all_of(node->outputs, [&](ValueId output) {
          return output == kNoValue || (of(output).read && of(output).known);
        });
    for (size_t i = 0; i < node->inputs.size(); ++i) {
      if (node->inputs[i] == kNoValue || reads_type_alone(*node, i)) continue;
      Uses& use = of(node->inputs[i]);
      const bool wants = wants_it_known(graph, *node, i);
      use.read = true;
      use.directly = use.directly && wants;
      use.known = use.known && (wants || leads_on);
    }
  }
  return uses;
}

// Inputs of the graph that are parameters: integers that become one, floats that are one, and what
// decides nothing but branches. An input that is read by nobody is none.
std::vector<ValueId> inputs_wanted_known(const Graph& graph,
                                         const std::set<std::string>& deciding) {
  const std::vector<Uses> uses = uses_of_values(graph);
  std::vector<ValueId> wanted;
  for (const ValueId id : graph.inputs) {
    const Value& value = graph.values[id];
    if (deciding.contains(value.name)) {
      wanted.push_back(id);
      continue;
    }
    const Uses& use = uses[static_cast<size_t>(id)];
    const bool integers = value.dtype == DType::kI32 || value.dtype == DType::kI64;
    if (integers && value.shape && elements_of(*value.shape) > kMostGiven) continue;
    const bool is_parameter =
        (use.read && (integers ? use.known : use.directly)) || decides_branches(graph, id);
    if (is_parameter && !graph.is_output(id)) wanted.push_back(id);
  }
  return wanted;
}

bool reads_levels(const OpCall& call) {
  return std::ranges::any_of(call.inputs, [](const OpInput& input) {
    const bool narrow = input.type.dtype == DType::kI8 || input.type.dtype == DType::kU8;
    return input.value && narrow && input.value->elements() > 1;
  });
}

// The types of the outputs where those of the inputs are known, and the values where they can be
// computed now; true for those.
Result<bool> infer_or_fold(Graph& graph, const Node& node) {
  const auto call = node.def ? call_of(graph, node) : std::nullopt;
  if (!call) return false;
  graph.has_levels = graph.has_levels || reads_levels(*call);
  const auto types = infer_node(*call);
  if (!types) {
    if (types.error().code == ErrorCode::kUnavailable) return false;
    return at_node(types.error(), node);
  }
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == kNoValue) continue;
    graph.values[node.outputs[i]].dtype = (*types)[i].dtype;
    graph.values[node.outputs[i]].shape = (*types)[i].shape;
  }
  if (!foldable(*call, *types)) return false;
  CLVET_RETURN_IF_ERROR(fold(graph, node));
  return true;
}

Status set_shape(Graph& graph, const std::string& name, const Shape& shape) {
  const auto found = std::find_if(graph.inputs.begin(), graph.inputs.end(),
                                  [&](ValueId id) { return graph.values[id].name == name; });
  if (found == graph.inputs.end()) {
    return fail(ErrorCode::kInvalidArgument, "the model has no input '{}'", name);
  }
  Value& value = graph.values[*found];
  CLVET_RETURN_IF_ERROR(checked_elements(shape).map([](int64_t) {}));
  const bool fits = !value.shape ||
                    std::equal(value.shape->begin(), value.shape->end(), shape.begin(), shape.end(),
                               [](int64_t own, int64_t given) { return own < 0 || own == given; });
  if (!fits) {
    return fail(ErrorCode::kInvalidArgument, "input '{}' is {}, but the model takes {}", name,
                to_string(shape), to_string(*value.shape));
  }
  value.shape = shape;
  return {};
}

}  // namespace

std::optional<OpCall> call_of(const Graph& graph, const Node& node) {
  OpCall call{node, {}};
  for (const ValueId in : node.inputs) {
    OpInput input;
    if (in != kNoValue) {
      const auto type = graph.values[in].type();
      if (!type) return std::nullopt;
      input = {*type, graph.constant(in), true};
    }
    call.inputs.push_back(std::move(input));
  }
  return call;
}

Status infer_and_fold(Graph& graph) {
  forget_types(graph);
  std::vector<Node> kept;
  std::vector<Node> left(std::make_move_iterator(graph.nodes.rbegin()),
                         std::make_move_iterator(graph.nodes.rend()));
  while (!left.empty()) {
    Node node = std::move(left.back());
    left.pop_back();
    if (takes_known_branch(graph, node)) {
      std::vector<Node> taken = nodes_of_branch(graph, node);
      std::move(taken.rbegin(), taken.rend(), std::back_inserter(left));
      continue;
    }
    CLVET_ASSIGN_OR_RETURN(const bool folded, infer_or_fold(graph, node));
    if (!folded) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  remove_dead_code(graph);
  return {};
}

std::map<std::string, Shape> shapes_of(const std::map<std::string, Tensor>& inputs) {
  std::map<std::string, Shape> shapes;
  for (const auto& [name, tensor] : inputs) shapes[name] = tensor.shape();
  return shapes;
}

std::vector<ValueId> parameters_of(const Graph& graph) { return inputs_wanted_known(graph, {}); }

Result<Graph> specialise(const Graph& graph, const std::map<std::string, Shape>& shapes,
                         const std::map<std::string, Tensor>& values,
                         const std::set<std::string>& deciding) {
  Graph out = graph;
  for (const auto& [name, shape] : shapes) CLVET_RETURN_IF_ERROR(set_shape(out, name, shape));
  CLVET_RETURN_IF_ERROR(NamedExtents::of(out, {}).map([](const NamedExtents&) {}));
  for (const ValueId input : inputs_wanted_known(out, deciding)) {
    Value& value = out.values[input];
    const auto found = values.find(value.name);
    if (found == values.end() || value.dtype != found->second.dtype()) continue;
    value.constant = found->second;
    value.shape = found->second.shape();
    out.given[value.name] = found->second;
    std::erase(out.inputs, input);
  }
  CLVET_RETURN_IF_ERROR(infer_and_fold(out));
  return out;
}

}  // namespace clvet
