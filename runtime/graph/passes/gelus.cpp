// Gelu, exact or by tanh, as exporters spell it out.
#include <array>
#include <cmath>
#include <cstddef>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/passes.h"
#include "runtime/graph/passes/match.h"

namespace clvet {
namespace {

constexpr int kDegrees = 4;  // x^0 to x^3
constexpr int kDeepest = 8;  // nodes from a product to its factors
using Polynomial = std::array<double, kDegrees>;

std::optional<Polynomial> product(const Polynomial& a, const Polynomial& b) {
  Polynomial result{};
  for (int i = 0; i < kDegrees; ++i) {
    for (int j = 0; j < kDegrees; ++j) {
      if (a[i] == 0 || b[j] == 0) continue;
      if (i + j >= kDegrees) return std::nullopt;
      result[i + j] += a[i] * b[j];
    }
  }
  return result;
}

// `value` as a polynomial of `x`.
std::optional<Polynomial> polynomial_of(const Graph& graph, const Links& links, ValueId value,
                                        ValueId x, int depth = 0) {
  if (value == x) return Polynomial{0, 1};
  if (const auto scalar = scalar_of(graph, value)) return Polynomial{*scalar};
  const Node* node = depth < kDeepest ? maker(graph, links, value) : nullptr;
  if (!node || node->inputs.size() != 2) return std::nullopt;
  const auto a = polynomial_of(graph, links, node->inputs[0], x, depth + 1);
  const auto b = a ? polynomial_of(graph, links, node->inputs[1], x, depth + 1) : std::nullopt;
  if (!b) return std::nullopt;
  if (node->op == "Mul") return product(*a, *b);
  const bool constant = (*b)[1] == 0 && (*b)[2] == 0 && (*b)[3] == 0;
  if (node->op == "Div" && constant && (*b)[0] != 0) return product(*a, {1 / (*b)[0]});
  if (node->op == "Pow" && constant && ((*b)[0] == 2 || (*b)[0] == 3)) {
    const auto square = product(*a, *a);
    return (*b)[0] == 2 || !square ? square : product(*square, *a);
  }
  if (node->op != "Add" && node->op != "Sub") return std::nullopt;
  Polynomial sum = *a;
  for (int i = 0; i < kDegrees; ++i) sum[i] += node->op == "Add" ? (*b)[i] : -(*b)[i];
  return sum;
}

// factor * x^x_power * gate^gate_power.
struct Factors {
  double factor = 1;
  int x = 0, gate = 0;
};

std::optional<Factors> factors_of(const Graph& graph, const Links& links, ValueId value, ValueId x,
                                  ValueId gate, int depth = 0) {
  if (value == x) return Factors{1, 1, 0};
  if (value == gate) return Factors{1, 0, 1};
  if (const auto scalar = scalar_of(graph, value)) return Factors{*scalar, 0, 0};
  const Node* node = depth < kDeepest ? maker(graph, links, value) : nullptr;
  if (!node || node->inputs.size() != 2) return std::nullopt;
  const auto a = factors_of(graph, links, node->inputs[0], x, gate, depth + 1);
  const auto b = a ? factors_of(graph, links, node->inputs[1], x, gate, depth + 1) : std::nullopt;
  if (!b) return std::nullopt;
  if (node->op == "Mul") return Factors{a->factor * b->factor, a->x + b->x, a->gate + b->gate};
  if (node->op == "Div" && b->x + b->gate == 0 && b->factor != 0)
    return Factors{a->factor / b->factor, a->x, a->gate};
  return std::nullopt;
}

// Exporters write five digits of a constant, or all of a float's.
bool near(double a, double b) { return std::fabs(a - b) <= 1e-5 * std::fabs(b); }

struct Gate {
  ValueId value;  // 1 + f(argument)
  ValueId argument;
  bool tanh;
};

// A node that adds 1 to Erf or Tanh.
std::optional<Gate> gate_of(const Graph& graph, const Links& links, const Node& add) {
  const int side = add.op == "Add" ? constant_side(graph, add) : -1;
  if (side < 0 || scalar_of(graph, add.inputs[side]) != 1.0) return std::nullopt;
  const Node* function = maker(graph, links, add.inputs[1 - side]);
  if (!function || (function->op != "Erf" && function->op != "Tanh")) return std::nullopt;
  return Gate{add.outputs[0], function->inputs[0], function->op == "Tanh"};
}

bool is_argument(const Polynomial& p, bool tanh) {
  if (p[0] != 0 || p[2] != 0) return false;
  const double root = std::sqrt(2 / std::numbers::pi);
  if (tanh) return near(p[1], root) && near(p[3], 0.044715 * root);
  return near(p[1], 1 / std::numbers::sqrt2) && p[3] == 0;
}

// What the product of node `last` may be the Gelu of: all that it reads, near by.
std::vector<ValueId> candidates(const Graph& graph, const Links& links, const Node& last) {
  std::vector<ValueId> values(last.inputs);
  for (size_t i = 0; i < values.size() && values.size() < 32; ++i) {
    const Node* node = maker(graph, links, values[i]);
    if (node && (node->op == "Mul" || node->op == "Div"))
      values.insert(values.end(), node->inputs.begin(), node->inputs.end());
  }
  return values;
}

bool same_shape(const Graph& graph, ValueId a, ValueId b) {
  const auto &from = graph.values[a].shape, &to = graph.values[b].shape;
  return from && to && *from == *to;
}

// From the gate to the last product that reads it.
bool rewrite_gelu(Graph& graph, const Links& links, size_t n) {
  const auto gate = gate_of(graph, links, graph.nodes[n]);
  if (!gate) return false;
  ValueId value = gate->value;
  for (int depth = 0; depth < 3; ++depth) {
    const int next = only_consumer(graph, links, value);
    if (next < 0 || (graph.nodes[next].op != "Mul" && graph.nodes[next].op != "Div")) return false;
    Node& last = graph.nodes[next];
    for (const ValueId x : candidates(graph, links, last)) {
      if (x == gate->value || graph.constant(x) || !same_shape(graph, x, last.outputs[0])) continue;
      const auto factors = factors_of(graph, links, last.outputs[0], x, gate->value);
      if (!factors || factors->x != 1 || factors->gate != 1 || !near(factors->factor, 0.5))
        continue;
      const auto argument = polynomial_of(graph, links, gate->argument, x);
      if (!argument || !is_argument(*argument, gate->tanh)) continue;
      become(last, "Gelu", {x}, {{"approximate", std::string(gate->tanh ? "tanh" : "none")}});
      return true;
    }
    value = last.outputs[0];
  }
  return false;
}

}  // namespace

void recognise_gelus(Graph& graph) {
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    const Node& node = graph.nodes[n];
    if (node.op == "Add" && node.domain.empty() && node.activation.act == Act::kNone)
      rewrite_gelu(graph, Links(graph), n);
  }
  remove_dead_code(graph);
}

}  // namespace clvet
