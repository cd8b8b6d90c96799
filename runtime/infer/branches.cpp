#include "runtime/infer/branches.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/subgraph.h"

namespace clvet {
namespace {

constexpr int kDeepest = 8;  // comparisons of comparisons

const char* branch_name(bool condition) { return condition ? "then_branch" : "else_branch"; }

// Puts what a branch has into the graph around it.
class Splice {
 public:
  Splice(Graph& graph, const Node& owner, const Graph& branch, std::string path)
      : graph_(graph),
        branch_(branch),
        path_(std::move(path)),
        ids_(branch.values.size(), kNoValue) {
    const size_t own = branch.inputs.size() - branch.captures.size();
    for (size_t i = 0; i < branch.captures.size(); ++i)
      place(branch.inputs[own + i]) = owner.inputs[static_cast<size_t>(branch.captures[i])];
  }

  std::vector<Node> nodes(const Node& owner) {
    std::vector<Node> made = outputs(owner);
    std::vector<Node> nodes;
    for (const Node& own : branch_.nodes) {
      Node node = own;
      node.name = path_ + own.name;
      for (ValueId& id : node.inputs) id = value(id);
      for (ValueId& id : node.outputs) id = value(id);
      nodes.push_back(std::move(node));
    }
    std::ranges::move(made, std::back_inserter(nodes));
    return nodes;
  }

 private:
  ValueId& place(ValueId own) { return ids_[static_cast<size_t>(own)]; }

  ValueId value(ValueId own) {
    if (own == kNoValue || place(own) != kNoValue) return own == kNoValue ? own : place(own);
    const Value& from = branch_.values[static_cast<size_t>(own)];
    const std::string name = graph_.unique_name(path_ + from.name);
    place(own) = from.constant ? graph_.add_constant(name, *from.constant) : graph_.add_value(name);
    return place(own);
  }

  // Gives the branch's outputs the If's values; those that are no node's, or another output, too,
  // by an Identity.
  std::vector<Node> outputs(const Node& owner) {
    std::vector<Node> copies;
    for (size_t i = 0; i < owner.outputs.size(); ++i) {
      const ValueId to = owner.outputs[i], from = branch_.outputs[i];
      if (to == kNoValue) continue;
      const bool is_made = std::ranges::any_of(branch_.nodes, [&](const Node& node) {
        return std::ranges::find(node.outputs, from) != node.outputs.end();
      });
      if (is_made && place(from) == kNoValue) {
        place(from) = to;
        continue;
      }
      Node copy;
      copy.name = path_ + "output." + std::to_string(i);
      copy.op = "Identity";
      copy.opset = owner.opset;
      copy.def = find_op("", copy.op);
      copy.inputs = {value(from)};
      copy.outputs = {to};
      copies.push_back(std::move(copy));
    }
    return copies;
  }

  Graph& graph_;
  const Graph& branch_;
  const std::string path_;
  std::vector<ValueId> ids_;  // in the graph, by value of the branch
};

const Graph* branch_of(const Graph& graph, const Node& node) {
  const Tensor* condition = graph.constant(node.inputs[0]);
  if (!condition) return nullptr;
  const auto truth = truth_of(*condition, "If's condition");
  const Graph* branch = truth ? node.graph_attr(branch_name(*truth)) : nullptr;
  const bool fits = branch && branch->inputs.size() == branch->captures.size() &&
                    branch->outputs.size() >= node.outputs.size();
  return fits ? branch : nullptr;
}

// Integers and truth values.
bool is_whole(const Graph& graph, ValueId id) {
  const auto dtype = graph.values[static_cast<size_t>(id)].dtype;
  return dtype && !is_float(*dtype);
}

bool decides(const Graph& graph, ValueId id, int depth);

// Of what the node reads for its subgraphs alone, as its input `i`.
bool decides_within(const Node& node, size_t i, int depth) {
  for (const auto& [name, inner] : node.graphs()) {
    const size_t own = inner->inputs.size() - inner->captures.size();
    for (size_t k = 0; k < inner->captures.size(); ++k) {
      const bool reads = static_cast<size_t>(inner->captures[k]) == i;
      if (reads && !decides(*inner, inner->inputs[own + k], depth)) return false;
    }
  }
  return true;
}

bool decides(const Graph& graph, ValueId id, int depth) {
  if (depth > kDeepest || graph.is_output(id)) return false;
  bool any = false;
  for (const Node& node : graph.nodes) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (node.inputs[i] != id) continue;
      any = true;
      if (is_if(node)) {
        if (i > 0 && !decides_within(node, i, depth + 1)) return false;
        continue;
      }
      const bool compares =
          node.graphs().empty() && node.outputs.size() == 1 && is_whole(graph, node.outputs[0]);
      if (!compares || !decides(graph, node.outputs[0], depth + 1)) return false;
    }
  }
  return any;
}

}  // namespace

bool is_if(const Node& node) { return node.def && node.domain.empty() && node.op == "If"; }

bool takes_known_branch(const Graph& graph, const Node& node) {
  return is_if(node) && branch_of(graph, node) != nullptr;
}

std::vector<Node> nodes_of_branch(Graph& graph, const Node& node) {
  const Graph& branch = *branch_of(graph, node);
  const bool then = &branch == node.graph_attr(branch_name(true));
  return Splice(graph, node, branch, node.name + "/" + branch_name(then) + "/").nodes(node);
}

bool decides_branches(const Graph& graph, ValueId id) { return decides(graph, id, 0); }

}  // namespace clvet
