// Add, Sub, Mul, Div, PRelu: two operands of one type with NumPy broadcasting.
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_eltwise_binary {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(Types types, infer_broadcast(call));
  if (call.node.op == "PRelu" && types[0].shape != call.shape(0)) {
    return fail(ErrorCode::kInvalidArgument, "PRelu's slope {} does not fit its input {}",
                to_string(call.shape(1)), to_string(call.shape(0)));
  }
  return types;
}

template <class T>
void run(const std::string& op, const Tensor& a, const Tensor& b, Tensor& out) {
  if (op == "Add")
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return wrap_add(x, y); });
  else if (op == "Sub")
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return wrap_sub(x, y); });
  else if (op == "Mul")
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return wrap_mul(x, y); });
  else if (op == "Div")
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return wrap_div(x, y); });
  else
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return x < 0 ? wrap_mul(x, y) : x; });
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return visit_numbers(call.type(0).dtype, [&]<class T>() {
    run<T>(call.node.op, call.tensor(0), call.tensor(1), outputs[0]);
  });
}

Lowering lower(const OpCall& call, View preferred) {
  const std::string& op = call.node.op;
  const EltwiseCode code = op == "Add"   ? EltwiseCode::kAdd
                           : op == "Sub" ? EltwiseCode::kSub
                           : op == "Mul" ? EltwiseCode::kMul
                           : op == "Div" ? EltwiseCode::kDiv
                                         : EltwiseCode::kSlope;
  return lower_binary(call, code, preferred);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Add", "Sub", "Mul", "Div", "PRelu"},
    .since = 7,
    .inputs = "T T",
    .types = "fiu",
    .fills_floats = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_eltwise_binary
