// HannWindow, HammingWindow and BlackmanWindow.
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_windows {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t size, single_integer(call, 0));
  if (size < 0) return bad_value(call, 0, static_cast<double>(size));
  CLVET_ASSIGN_OR_RETURN(const DType dtype, type_attribute(call, "output_datatype", DType::kF32));
  return Types{{dtype, {size}}};
}

// The cosines' weights of ONNX's function bodies.
struct Weights {
  double constant, first, second;
};
Weights weights_of(const std::string& op) {
  if (op == "HannWindow") return {0.5, 0.5, 0};
  if (op == "HammingWindow") return {25.0 / 46, 21.0 / 46, 0};
  return {0.42, 0.5, 0.08};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Weights w = weights_of(call.node.op);
  const int64_t size = outputs[0].elements();
  const bool periodic = call.node.int_attr("periodic", 1) != 0;
  CLVET_ASSIGN_OR_RETURN(Tensor exact, Tensor::create(DType::kF64, {size}));
  const auto turns = static_cast<double>(periodic ? size : size - 1);
  for (int64_t i = 0; i < size; ++i) {
    const double angle = size == 1 ? 0 : 2 * std::numbers::pi * static_cast<double>(i) / turns;
    exact.data<double>()[i] =
        w.constant - w.first * std::cos(angle) + w.second * std::cos(2 * angle);
  }
  CLVET_ASSIGN_OR_RETURN(outputs[0], exact.cast(outputs[0].dtype()));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"HannWindow", "HammingWindow", "BlackmanWindow"},
    .since = 17,
    .inputs = "i",
    .attributes = "output_datatype:i periodic:i",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_windows
