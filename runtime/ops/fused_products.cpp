// FusedMatMul, FusedGemm and FusedConv of com.microsoft: ONNX's products with a transpose before
// them, or an addend and an activation behind them.
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/attribute.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_fused_products {
namespace {

// Without `batch` the last two axes are exchanged; with it the first axis goes behind the others
// but the last, and `trans` exchanges those two after that.
Term transposed(Steps& s, const Term& x, bool trans, bool batch) {
  const size_t rank = x.shape().size();
  if (rank < 2 || (!trans && !batch)) return x;
  std::vector<int64_t> order;
  for (size_t i = 0; i < rank; ++i) order.push_back(static_cast<int64_t>(i));
  if (batch) {
    order.erase(order.begin());
    order.insert(order.end() - 1, 0);
  }
  if (trans) std::swap(order[rank - 1], order[rank - 2]);
  return s.one("Transpose", {x}, {{"perm", order}});
}

Term scaled(Steps& s, const Term& x, double factor) {
  if (factor == 1 || !x.present) return x;
  const Tensor by = Tensor::scalar(static_cast<float>(factor)).cast(x.type.dtype).value();
  return s.one("Mul", {x, constant_term(by)});
}

std::vector<Term> matmul(Steps& s) {
  const OpCall& call = s.call();
  const auto flag = [&](const char* name) { return call.node.int_attr(name, 0) != 0; };
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const char* name = i == 0 ? "transBatchA" : "transBatchB";
    if (flag(name) && call.shape(i).size() < 3) return s.refuse(bad_attribute(call, name));
  }
  const Term a = transposed(s, s.input(0), flag("transA"), flag("transBatchA"));
  const Term b = transposed(s, s.input(1), flag("transB"), flag("transBatchB"));
  return {scaled(s, s.one("MatMul", {a, b}), call.node.float_attr("alpha", 1))};
}

// The activation that a node names; `parameters` as it lists them, kept in ONNX's order.
Term activated(Steps& s, const Term& x, const std::vector<double>& parameters) {
  const std::string name = s.call().node.string_attr("activation", "");
  if (name.empty()) return x;
  const auto parameter = [&](size_t i, double fallback) {
    return i < parameters.size() ? parameters[i] : fallback;
  };
  if (name == "Relu" || name == "Tanh" || name == "Sigmoid") return s.one(name.c_str(), {x});
  if (name == "LeakyRelu") return s.one("LeakyRelu", {x}, {{"alpha", parameter(0, 0.01)}});
  if (name == "HardSigmoid") {
    return s.one("HardSigmoid", {x}, {{"alpha", parameter(0, 0.2)}, {"beta", parameter(1, 0.5)}});
  }
  if (name == "Clip" && parameters.size() == 2) {
    const auto bound = [&](size_t i) {
      const auto value = static_cast<float>(parameters[i]);
      return constant_term(Tensor::scalar(value).cast(x.type.dtype).value());
    };
    return x.present ? s.one("Clip", {x, bound(0), bound(1)}) : x;
  }
  s.refuse(bad_attribute(s.call(), "activation"));
  return no_term();
}

// The attributes that ONNX's operator has, too.
Attributes without(Attributes attributes, std::initializer_list<const char*> names) {
  for (const char* name : names) attributes.erase(name);
  return attributes;
}

std::vector<Term> gemm(Steps& s) {
  const Node& node = s.call().node;
  if (s.call().has(3)) return s.refuse(bad_shape(s.call(), 3));
  const Term y = s.one("Gemm", {s.input(0), s.input(1), s.input(2)},
                       without(node.attributes, {"activation", "activation_alpha",
                                                 "activation_beta", "activation_gamma"}));
  std::vector<double> parameters;
  for (const char* name : {"activation_alpha", "activation_beta"}) {
    if (node.attributes.contains(name)) parameters.push_back(node.float_attr(name, 0));
  }
  return {activated(s, y, parameters)};
}

std::vector<Term> conv(Steps& s) {
  const Node& node = s.call().node;
  Term y = s.one("Conv", {s.input(0), s.input(1), s.input(2)},
                 without(node.attributes, {"activation", "activation_params"}));
  if (s.call().has(3) && s.ok()) {
    if (y.shape() != s.call().shape(3)) return s.refuse(misfit(s.call(), 0, 3));
    y = s.one("Add", {y, s.input(3)});
  }
  const std::vector<double>* given = node.floats_attr("activation_params");
  return {activated(s, y, given ? *given : std::vector<double>{})};
}

std::vector<Term> steps(Steps& s) {
  const std::string& op = s.call().node.op;
  return op == "FusedConv" ? conv(s) : op == "FusedGemm" ? gemm(s) : matmul(s);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"FusedMatMul", "FusedGemm", "FusedConv"},
    .domain = kMicrosoft,
    .inputs = "T T T? T?",
    .types = "f",
    .attributes =
        "activation:s activation_alpha:f activation_beta:f activation_gamma:f activation_params:F "
        "alpha:f auto_pad:s=|NOTSET|SAME_UPPER|SAME_LOWER|VALID beta:f dilations:I group:i "
        "kernel_shape:I pads:I strides:I transA:i transB:i transBatchA:i transBatchB:i",
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
};

}  // namespace clvet::op_fused_products
