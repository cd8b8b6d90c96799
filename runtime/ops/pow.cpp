// Pow: the exponent may have a type of its own; the result has the base's.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/attribute.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_pow {
namespace {

template <class T>
T power(T base, double exponent) {
  if constexpr (std::is_same_v<T, float>) {
    if (exponent == 2) return base * base;
    return std::pow(base, static_cast<float>(exponent));
  } else if constexpr (std::is_same_v<T, double>) {
    return std::pow(base, exponent);
  } else {
    if (exponent >= 0 && exponent < 1.8e19 && std::floor(exponent) == exponent) {
      T product = 1;
      for (auto left = static_cast<uint64_t>(exponent); left; left >>= 1) {
        if (left & 1) product = wrap_mul(product, base);
        base = wrap_mul(base, base);
      }
      return product;
    }
    const double value = std::pow(static_cast<double>(base), exponent);
    return std::isfinite(value) && std::fabs(value) < 9.2e18
               ? static_cast<T>(static_cast<int64_t>(value))
               : T{0};
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Tensor exponent, call.tensor(1).cast(DType::kF64));
  return visit_numbers(call.type(0).dtype, [&]<class T>() {
    map_binary<T, double, T>(call.tensor(0), exponent, outputs[0], power<T>);
  });
}

// A product of the base with itself takes a fifth of the time.
bool is_square(const OpCall& call) {
  const Tensor* exponent = call.inputs[1].value;
  if (!exponent || exponent->elements() != 1 || exponent->to_f64()[0] != 2) return false;
  return broadcast(call.shape(0), call.shape(1)) == call.shape(0);
}

Lowering lower_square(const OpCall& call, View preferred) {
  const OpCall product{call.node, {call.inputs[0], call.inputs[0]}};
  Lowering lowering = lower_binary(product, EltwiseCode::kMul, preferred);
  for (LoweredCall& lowered : lowering.calls) {
    for (LoweredInput& input : lowered.inputs) input.input = std::min(input.input, 0);
  }
  return lowering;
}

Lowering lower(const OpCall& call, View preferred) {
  if (is_square(call)) return lower_square(call, preferred);
  if (call.type(1).dtype != call.type(0).dtype)
    return host_only("its exponent is of another type than its base");
  return lower_binary(call, EltwiseCode::kPow, preferred);
}

// An exponent of another type as the base's.
std::vector<Term> steps(Steps& s) {
  if (s.call().type(1).dtype == s.call().type(0).dtype || !on_device(s.call().type(0).dtype))
    return {};
  const Attributes to = {{"to", onnx_of_dtype(s.call().type(0).dtype)}};
  return {s.one("Pow", {s.input(0), s.one("Cast", {s.input(1)}, to)})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Pow"},
    .since = 7,
    .inputs = "T *",
    .types = "fiu",
    .infer = infer_broadcast,
    .host = host,
    .lower = lower,
    .expand = steps,
};

}  // namespace clvet::op_pow
