#include "runtime/infer/cut.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/graph/part.h"
#include "runtime/graph/tensor.h"
#include "runtime/infer/infer.h"
#include "runtime/ops/contract/op_def.h"

namespace clvet {
namespace {

const Value& value_at(const Graph& graph, ValueId id) {
  return graph.values[static_cast<size_t>(id)];
}

bool is_known(const Graph& graph, ValueId id) {
  return id == kNoValue || value_at(graph, id).type().has_value();
}

// What the node waits for, where these are a few values that tell the types of what it makes;
// empty: only its own run tells them. All types of its inputs are known.
std::vector<ValueId> deciding_values(const Graph& graph, const Node& node) {
  std::vector<ValueId> deciding;
  if (!node.def || !node.graphs().empty()) return deciding;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const ValueId id = node.inputs[i];
    if (id == kNoValue || graph.constant(id) || !wants_known(*node.def, i)) continue;
    if (elements_of(*value_at(graph, id).shape) > kMostGiven) return {};
    deciding.push_back(id);
  }
  return deciding;
}

// Operators that have kernels with weights (convolutions, products, normalisations), and what reads
// so many constants that they are such, whatever it is called.
bool is_heavy(const Graph& graph, const Node& node) {
  if (!node.def) return false;
  return (node.def->lower && node.def->constant) ||
         std::ranges::any_of(node.inputs, [&](ValueId id) {
           const Tensor* constant = graph.constant(id);
           return constant && constant->rank() > 1 && constant->elements() > kMostGiven;
         });
}

// What each side of the cut gives: outputs of the graph, and of the nodes before it what those
// behind it read.
struct Sides {
  std::vector<ValueId> before, behind;

  Sides(const Graph& graph, const NodeSet& is_behind) {
    ValueSet read(graph.values.size(), false), made_before = read, made_behind = read;
    for (size_t n = 0; n < is_behind.size(); ++n) {
      if (is_behind[n]) mark(graph.nodes[n].inputs, read);
      mark(graph.nodes[n].outputs, is_behind[n] ? made_behind : made_before);
    }
    for (const ValueId id : graph.outputs)
      (made_behind[static_cast<size_t>(id)] ? behind : before).push_back(id);
    for (size_t v = 0; v < read.size(); ++v) {
      const auto id = static_cast<ValueId>(v);
      if (made_before[v] && read[v] && !graph.is_output(id)) before.push_back(id);
    }
  }
};

// Also those that its nodes do not read: a caller gives them.
void keep_inputs(const Graph& graph, Graph& part) {
  std::vector<ValueId> inputs;
  for (const ValueId id : graph.inputs) {
    ValueId own = part.find_value(value_at(graph, id).name);
    if (own == kNoValue) {
      own = static_cast<ValueId>(part.values.size());
      part.values.push_back(value_at(graph, id));
    }
    inputs.push_back(own);
  }
  part.inputs = std::move(inputs);
}

}  // namespace

std::optional<CutGraph> cut_at_unknown_shapes(const Graph& graph) {
  NodeSet behind(graph.nodes.size(), false);
  std::set<std::string> deciding;
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    const auto known = [&](ValueId id) { return is_known(graph, id); };
    if (std::ranges::all_of(node.outputs, known)) continue;
    if (!std::ranges::all_of(node.inputs, known)) {
      behind[n] = true;
      continue;
    }
    for (const ValueId id : deciding_values(graph, node)) {
      behind[n] = true;
      deciding.insert(value_at(graph, id).name);
    }
  }
  bool is_worth_it = false;
  for (size_t n = 0; n < behind.size(); ++n)
    is_worth_it = is_worth_it || (behind[n] && is_heavy(graph, graph.nodes[n]));
  if (!is_worth_it) return std::nullopt;

  NodeSet before = behind;
  before.flip();
  const Sides sides(graph, behind);
  CutGraph cut{part_of(graph, before, sides.before),
               {part_of(graph, behind, sides.behind), std::move(deciding)}};
  keep_inputs(graph, cut.before);
  cut.before.given = graph.given;
  for (Graph* part : {&cut.before, &cut.rest.graph}) {
    part->metadata = graph.metadata;
    part->has_levels = graph.has_levels;
  }
  return cut;
}

}  // namespace clvet
