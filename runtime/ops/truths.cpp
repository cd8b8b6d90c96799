// Comparisons as floats, 1 where they hold and else 0, which a device can compute: IsLess,
// IsLessOrEqual, IsEqual. IfAbove: the first operand where it is above the second one, else 0.
// NumberOr: the first operand, or the second one where the first is NaN.
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_truths {
namespace {

template <class T>
void run(const std::string& op, const Tensor& a, const Tensor& b, Tensor& out) {
  if (op == "IsLess")
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return static_cast<T>(x < y); });
  else if (op == "IsLessOrEqual")
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return static_cast<T>(x <= y); });
  else if (op == "IsEqual")
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return static_cast<T>(x == y); });
  else if (op == "IfAbove")
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return x > y ? x : T{0}; });
  else
    map_binary<T, T, T>(a, b, out, [](T x, T y) { return x == x ? x : y; });
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    run<T>(call.node.op, call.tensor(0), call.tensor(1), outputs[0]);
  });
}

Lowering lower(const OpCall& call, View preferred) {
  const std::string& op = call.node.op;
  const EltwiseCode code = op == "IsLess"          ? EltwiseCode::kLess
                           : op == "IsLessOrEqual" ? EltwiseCode::kLessOrEqual
                           : op == "IsEqual"       ? EltwiseCode::kEqual
                           : op == "IfAbove"       ? EltwiseCode::kIfAbove
                                                   : EltwiseCode::kNumberOr;
  return lower_binary(call, code, preferred);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"IsLess", "IsLessOrEqual", "IsEqual", "IfAbove", "NumberOr"},
    .domain = kStepsDomain,
    .inputs = "T T",
    .types = "f",
    .infer = infer_broadcast,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_truths
