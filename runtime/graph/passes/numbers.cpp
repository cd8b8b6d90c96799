// A number in place of NaN.
#include <cstddef>

#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"
#include "runtime/graph/tensor.h"

namespace clvet {
namespace {

// Whether `constant` is one number, and has no more axes than x.
bool is_one_number(const Graph& graph, ValueId constant, ValueId x) {
  const Tensor* number = graph.constant(constant);
  if (!number || number->elements() != 1 || !is_float(number->dtype())) return false;
  const auto& shape = graph.values[x].shape;
  return number->rank() == 0 || (shape && static_cast<size_t>(number->rank()) <= shape->size());
}

void rewrite_choice(const Graph& graph, const Links& links, Node& where) {
  const Node* condition = maker(graph, links, where.inputs[0]);
  const bool otherwise = condition && condition->op == "Not";
  if (otherwise) condition = maker(graph, links, condition->inputs[0]);
  if (!condition || condition->op != "IsNaN") return;
  const ValueId x = where.inputs[otherwise ? 1 : 2], number = where.inputs[otherwise ? 2 : 1];
  if (condition->inputs[0] != x || !is_one_number(graph, number, x)) return;
  become_step(where, "NumberOr", {x, number}, {});
}

}  // namespace

void recognise_numbers(Graph& graph) {
  const Links links(graph);
  for (Node& node : graph.nodes) {
    if (node.op == "Where" && node.domain.empty()) rewrite_choice(graph, links, node);
  }
  remove_dead_code(graph);
}

}  // namespace clvet
