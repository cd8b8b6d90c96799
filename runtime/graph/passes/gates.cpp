// Hard-swish and its relatives, as exporters spell them out.
#include <cmath>
#include <cstddef>
#include <optional>

#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"

namespace clvet {
namespace {

// clip(x + b, 0, c), found from its Clip.
struct Ramp {
  ValueId x = kNoValue;
  double b = 0, c = 0;
};

std::optional<Ramp> ramp_of(const Graph& graph, const Links& links, const Node& clip) {
  const auto activation = activation_of(graph, clip);
  if (!activation || activation->act != Act::kClip || activation->lo != 0 || activation->hi <= 0) {
    return std::nullopt;
  }
  const ValueId sum = clip.inputs[0];
  const int producer = links.producer[sum];
  if (producer < 0 || graph.nodes[producer].op != "Add") return std::nullopt;
  const Node& add = graph.nodes[producer];
  const int side = constant_side(graph, add);
  if (side < 0 || add.activation.act != Act::kNone) return std::nullopt;
  const auto b = scalar_of(graph, add.inputs[side]);
  if (!b || adds_axis(graph, add, side)) return std::nullopt;
  return Ramp{add.inputs[1 - side], *b, activation->hi};
}

// The factor of a Mul or Div by a single constant.
std::optional<double> factor_of(const Graph& graph, const Node& node) {
  const int side = constant_side(graph, node);
  if (side < 0 || (node.op != "Mul" && (node.op != "Div" || side == 0))) return std::nullopt;
  const auto value = scalar_of(graph, node.inputs[side]);
  if (!value || *value == 0 || adds_axis(graph, node, side)) return std::nullopt;
  return node.op == "Div" ? 1 / *value : *value;
}

bool same(double a, double b) { return std::fabs(a - b) <= 1e-6 * std::fabs(b); }

// The other operand where `node` multiplies `value` by something.
ValueId other_operand(const Node& node, ValueId value) {
  if (node.op != "Mul" || !node.domain.empty() || node.inputs.size() != 2 ||
      node.inputs[0] == node.inputs[1]) {
    return kNoValue;
  }
  if (node.inputs[0] == value) return node.inputs[1];
  return node.inputs[1] == value ? node.inputs[0] : kNoValue;
}

Attributes hard(double alpha, double beta) { return {{"alpha", alpha}, {"beta", beta}}; }

// clip(x + b, 0, c) * x / c, in either order, and clip(x + b, 0, c) / c.
bool rewrite_ramp(Graph& graph, const Links& links, size_t n) {
  const auto ramp = ramp_of(graph, links, graph.nodes[n]);
  if (!ramp) return false;
  const ValueId clipped = graph.nodes[n].outputs[0];
  const int next = only_consumer(graph, links, clipped);
  if (next < 0) return false;
  Node& second = graph.nodes[next];
  if (const auto factor = factor_of(graph, second); factor && same(*factor, 1 / ramp->c)) {
    become(second, "HardSigmoid", {ramp->x}, hard(1 / ramp->c, ramp->b / ramp->c));
    return true;
  }
  if (other_operand(second, clipped) != ramp->x) return false;
  const int last = only_consumer(graph, links, second.outputs[0]);
  if (last < 0) return false;
  const auto factor = factor_of(graph, graph.nodes[last]);
  if (!factor || !same(*factor, 1 / ramp->c)) return false;
  become(graph.nodes[last], "HardSwish", {ramp->x}, hard(1 / ramp->c, ramp->b / ramp->c));
  return true;
}

// gate(x) * x.
bool rewrite_gate(Graph& graph, const Links& links, size_t n) {
  const Node& gate = graph.nodes[n];
  const auto activation = activation_of(graph, gate);
  const bool hard_gate = activation && activation->act == Act::kHardSigmoid;
  if (!activation || (!hard_gate && activation->act != Act::kSigmoid)) return false;
  const int next = only_consumer(graph, links, gate.outputs[0]);
  if (next < 0 || other_operand(graph.nodes[next], gate.outputs[0]) != gate.inputs[0]) return false;
  if (hard_gate) {
    become(graph.nodes[next], "HardSwish", {gate.inputs[0]}, hard(activation->lo, activation->hi));
  } else {
    become(graph.nodes[next], "Swish", {gate.inputs[0]}, {});
  }
  return true;
}

}  // namespace

void recognise_gates(Graph& graph) {
  for (const auto rewrite : {rewrite_ramp, rewrite_gate}) {
    for (size_t n = 0; n < graph.nodes.size(); ++n) {
      const Node& node = graph.nodes[n];
      const bool candidate = node.op == "Clip" || node.op == "HardSigmoid" || node.op == "Sigmoid";
      if (candidate && node.activation.act == Act::kNone) rewrite(graph, Links(graph), n);
    }
    remove_dead_code(graph);
  }
}

}  // namespace clvet
