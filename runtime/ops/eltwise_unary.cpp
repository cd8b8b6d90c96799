// Float functions of one operand.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kernels/act_table.h"
#include "kernels/contract.h"
#include "kernels/functions.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/host/activation.h"
#include "runtime/host/parallel.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_eltwise_unary {
namespace {

template <class T>
using Function = T (*)(T x, T alpha, T beta);

template <class T>
struct Row {
  std::string_view name;
  Function<T> function;
  double alpha = 0, beta = 0;  // defaults of the attributes alpha (or bias, gamma) and beta
};

template <class T>
T sigmoid(T x) {
  if (x >= 0) return 1 / (1 + std::exp(-x));
  const T e = std::exp(x);
  return e / (1 + e);
}

template <class T>
T softplus(T x) {
  return x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x));
}

template <class T>
T clamp01(T x) {
  return x < 0 ? T{0} : (x > 1 ? T{1} : x);
}

template <class T>
const Row<T> kRows[] = {
    {"Relu", [](T x, T, T) { return x < 0 ? T{0} : x; }},
    {"Sigmoid", [](T x, T, T) { return sigmoid(x); }},
    {"Tanh", [](T x, T, T) { return std::tanh(x); }},
    {"Exp", [](T x, T, T) { return std::exp(x); }},
    {"Log", [](T x, T, T) { return std::log(x); }},
    {"Sqrt", [](T x, T, T) { return std::sqrt(x); }},
    {"Reciprocal", [](T x, T, T) { return 1 / x; }},
    {"Floor", [](T x, T, T) { return std::floor(x); }},
    {"Ceil", [](T x, T, T) { return std::ceil(x); }},
    {"Round", [](T x, T, T) { return std::nearbyint(x); }},
    {"Erf", [](T x, T, T) { return std::erf(x); }},
    {"Sin", [](T x, T, T) { return std::sin(x); }},
    {"Cos", [](T x, T, T) { return std::cos(x); }},
    {"Tan", [](T x, T, T) { return std::tan(x); }},
    {"Asin", [](T x, T, T) { return std::asin(x); }},
    {"Acos", [](T x, T, T) { return std::acos(x); }},
    {"Atan", [](T x, T, T) { return std::atan(x); }},
    {"Sinh", [](T x, T, T) { return std::sinh(x); }},
    {"Cosh", [](T x, T, T) { return std::cosh(x); }},
    {"Asinh", [](T x, T, T) { return std::asinh(x); }},
    {"Acosh", [](T x, T, T) { return std::acosh(x); }},
    {"Atanh", [](T x, T, T) { return std::atanh(x); }},
    {"HardSigmoid", [](T x, T a, T b) { return clamp01(a * x + b); }, 0.2, 0.5},
    {"HardSwish", [](T x, T a, T b) { return x * clamp01(a * x + b); }, 1.0 / 6, 0.5},
    {"LeakyRelu", [](T x, T a, T) { return x < 0 ? a * x : x; }, 0.01},
    {"Elu", [](T x, T a, T) { return x < 0 ? a * std::expm1(x) : x; }, 1},
    {"Celu", [](T x, T a, T) { return (x < 0 ? T{0} : x) + std::min(T{0}, a * std::expm1(x / a)); },
     1},
    {"Selu", [](T x, T a, T g) { return g * (x <= 0 ? a * std::expm1(x) : x); },
     1.67326319217681884765625, 1.05070102214813232421875},
    {"ThresholdedRelu", [](T x, T a, T) { return x > a ? x : T{0}; }, 1},
    {"Softplus", [](T x, T, T) { return softplus(x); }},
    {"Softsign", [](T x, T, T) { return x / (1 + std::fabs(x)); }},
    {"Mish", [](T x, T, T) { return x * std::tanh(softplus(x)); }},
    {"Swish", [](T x, T a, T) { return x * sigmoid(a * x); }, 1},
    {"Shrink",
     [](T x, T lambd, T bias) { return x < -lambd ? x + bias : (x > lambd ? x - bias : T{0}); },
     0.5, 0},
};

template <class T>
const Row<T>& row_of(std::string_view name) {
  for (const Row<T>& row : kRows<T>) {
    if (row.name == name) return row;
  }
  return kRows<T>[0];
}

struct Parameters {
  double alpha, beta;
};

Parameters parameters_of(const Node& node) {
  const Row<double>& row = row_of<double>(node.op);
  const char* first = node.op == "Shrink" ? "lambd" : "alpha";
  const char* second = node.op == "Shrink" ? "bias" : node.op == "Selu" ? "gamma" : "beta";
  return {node.float_attr(first, row.alpha), node.float_attr(second, row.beta)};
}

// The same function where vectors compute it (runtime/host/activation.h); kNone where none does.
Activation vector_form(const Node& node) {
  const auto [alpha, beta] = parameters_of(node);
  if (node.op == "Swish" && alpha == 1) return {Act::kSilu};
  const ActRow* row = act_of_onnx(node.op);
  return row && row->act != Act::kSqrt ? Activation{row->act, alpha, beta} : Activation{};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const auto [alpha, beta] = parameters_of(call.node);
  const Activation form = vector_form(call.node);
  if (call.type(0).dtype == DType::kF32 && form.act != Act::kNone) {
    const float* x = call.tensor(0).data<float>();
    float* y = outputs[0].data<float>();
    parallel_for(outputs[0].elements(), kElementGrain / 4, [&](int64_t first, int64_t end) {
      std::copy(x + first, x + end, y + first);
      activate(form, y + first, end - first);
    });
    return {};
  }
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    const Function<T> function = row_of<T>(call.node.op).function;
    const T a = static_cast<T>(alpha), b = static_cast<T>(beta);
    map_unary<T, T>(call.tensor(0), outputs[0], [&](T x) { return function(x, a, b); });
  });
}

Lowering lower(const OpCall& call, View preferred) {
  const auto [alpha, beta] = parameters_of(call.node);
  if (const ActRow* row = act_of_onnx(call.node.op)) {
    return lower_unary(call, {row->act, alpha, beta}, preferred);
  }
  if (call.node.op == "Swish" && alpha == 1) return lower_unary(call, {Act::kSilu}, preferred);
  if (const auto code = function_of_onnx(call.node.op))
    return lower_function(call, *code, preferred);
  return no_kernel(call);
}

// exp(min(x, 0) * rate) - 1: what is below 0 of the Elus.
Term below_zero(Steps& s, const Term& x, double rate) {
  const Term low = s.one("Min", {x, number(0)});
  const Term e = s.one("Exp", {rate == 1 ? low : s.one("Mul", {low, number(rate)})});
  return s.one("Sub", {e, number(1)});
}

// scale * (x above 0, weight * below_zero() below).
Term elu(Steps& s, const Term& x, double rate, double weight, double scale) {
  const Term above = s.one("Max", {x, number(0)});
  const Term below = s.one("Mul", {below_zero(s, x, rate), number(weight)});
  const Term y = s.one("Add", {above, below});
  return scale == 1 ? y : s.one("Mul", {y, number(scale)});
}

// log(1 + exp(x)) of any size.
Term softplus_steps(Steps& s, const Term& x) {
  const Term size = s.one("Mul", {s.one("Abs", {x}), number(-1)});
  const Term rest = s.one("Log", {s.one("Add", {s.one("Exp", {size}), number(1)})});
  return s.one("Add", {s.one("Max", {x, number(0)}), rest});
}

// What is beyond the limit on either side, and the bias towards 0 there: no product, as 0 times an
// infinity is no number.
Term shrunk(Steps& s, const Term& x, double limit, double bias) {
  const Term minus = s.one("Mul", {x, number(-1)}), bound = number(limit);
  const Term kept = s.one("Sub", {s.one("IfAbove", {x, bound}), s.one("IfAbove", {minus, bound})});
  const Term side = s.one("Sub", {s.one("IsLess", {bound, minus}), s.one("IsLess", {bound, x})});
  return s.one("Add", {kept, s.one("Mul", {side, number(bias)})});
}

std::vector<Term> steps(Steps& s) {
  const auto [alpha, beta] = parameters_of(s.call().node);
  const std::string& op = s.call().node.op;
  const Term x = s.input(0);
  if (op == "Reciprocal") return {s.one("Div", {number(1), x})};
  if (op == "Elu") return {elu(s, x, 1, alpha, 1)};
  if (op == "Celu" && alpha != 0) return {elu(s, x, 1 / alpha, alpha, 1)};
  if (op == "Selu") return {elu(s, x, 1, alpha, beta)};
  if (op == "Softplus") return {softplus_steps(s, x)};
  if (op == "Softsign") return {s.one("Div", {x, s.one("Add", {s.one("Abs", {x}), number(1)})})};
  if (op == "ThresholdedRelu") return {s.one("IfAbove", {x, number(alpha)})};
  if (op == "Shrink" && alpha >= 0) return {shrunk(s, x, alpha, beta)};
  if (op == "Mish") return {s.one("Mul", {x, s.one("Tanh", {softplus_steps(s, x)})})};
  if (op == "Swish")
    return {s.one("Mul", {x, s.one("Sigmoid", {s.one("Mul", {x, number(alpha)})})})};
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Relu",
              "Sigmoid",
              "Tanh",
              "Exp",
              "Log",
              "Sqrt",
              "Reciprocal",
              "Floor",
              "Ceil",
              {"Round", 11},
              {"Erf", 9},
              {"Sin", 7},
              {"Cos", 7},
              {"Tan", 7},
              {"Asin", 7},
              {"Acos", 7},
              {"Atan", 7},
              {"Sinh", 9},
              {"Cosh", 9},
              {"Asinh", 9},
              {"Acosh", 9},
              {"Atanh", 9},
              "HardSigmoid",
              {"HardSwish", 14},
              "LeakyRelu",
              "Elu",
              {"Celu", 12},
              "Selu",
              {"ThresholdedRelu", 10},
              "Softplus",
              "Softsign",
              {"Mish", 18},
              {"Swish", 24},
              {"Shrink", 9}},
    .since = 6,
    .types = "f",
    .attributes = "alpha:f beta:f gamma:f lambd:f bias:f",
    .fills_floats = true,
    .infer = infer_same,
    .host = host,
    .lower = lower,
    .expand = steps,
};

}  // namespace clvet::op_eltwise_unary
