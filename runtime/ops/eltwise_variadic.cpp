// Max, Min, Sum, Mean: any number of operands of one type.
#include <cstddef>
#include <string>
#include <vector>

#include "base/numbers.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_eltwise_variadic {
namespace {

// ONNX has no Mean of integers: their sum wraps, and their number may.
Result<Types> infer(const OpCall& call) {
  const DType dtype = call.type(0).dtype;
  if (call.node.op == "Mean" && !on_device(dtype) && dtype != DType::kF64) {
    return fail(ErrorCode::kUnsupported, "{} does not support the type {}", call.node.op,
                to_string(dtype));
  }
  return infer_broadcast(call);
}

template <class T>
void combine(const std::string& op, const Tensor& a, const Tensor& b, Tensor& out) {
  if (op == "Max")
    map_binary<T, T, T>(a, b, out, larger<T>);
  else if (op == "Min")
    map_binary<T, T, T>(a, b, out, smaller<T>);
  else
    map_binary<T, T, T>(a, b, out, wrap_add<T>);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const size_t count = call.inputs.size();
  return visit_numbers(call.type(0).dtype, [&]<class T>() {
    Tensor& out = outputs[0];
    const Tensor zero = Tensor::scalar<T>(0);
    map_binary<T, T, T>(call.tensor(0), zero, out, [](T x, T) { return x; });
    for (size_t i = 1; i < count; ++i) combine<T>(call.node.op, out, call.tensor(i), out);
    if (call.node.op != "Mean") return;
    map_unary<T, T>(out, out, [&](T x) { return static_cast<T>(x / static_cast<T>(count)); });
  });
}

Lowering lower(const OpCall& call, View preferred) {
  if (call.inputs.size() != 2) return host_only("kernels take exactly two operands");
  const std::string& op = call.node.op;
  if (op == "Mean") return no_kernel(call);
  const EltwiseCode code = op == "Max"   ? EltwiseCode::kMax
                           : op == "Min" ? EltwiseCode::kMin
                                         : EltwiseCode::kAdd;
  return lower_binary(call, code, preferred);
}

// Two operands after the other.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const bool mean = call.node.op == "Mean";
  const char* op = mean                    ? "Add"
                   : call.node.op == "Sum" ? "Add"
                   : call.node.op == "Max" ? "Max"
                                           : "Min";
  Term y = s.input(0);
  for (size_t i = 1; i < call.inputs.size(); ++i) y = s.one(op, {y, s.input(i)});
  if (mean) y = s.one("Div", {y, number(static_cast<double>(call.inputs.size()))});
  return {y};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Max", "Min", "Sum", "Mean"},
    .since = 6,
    .inputs = "T+",
    .types = "fiu",
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
};

}  // namespace clvet::op_eltwise_variadic
