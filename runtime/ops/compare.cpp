// Equal, Greater, GreaterOrEqual, Less, LessOrEqual.
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_compare {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(Types types, infer_broadcast(call));
  types[0].dtype = DType::kBool;
  return types;
}

template <class T>
void run(const std::string& op, const Tensor& a, const Tensor& b, Tensor& out) {
  if (op == "Equal")
    map_binary<T, T, bool>(a, b, out, [](T x, T y) { return x == y; });
  else if (op == "Greater")
    map_binary<T, T, bool>(a, b, out, [](T x, T y) { return x > y; });
  else if (op == "GreaterOrEqual")
    map_binary<T, T, bool>(a, b, out, [](T x, T y) { return x >= y; });
  else if (op == "Less")
    map_binary<T, T, bool>(a, b, out, [](T x, T y) { return x < y; });
  else
    map_binary<T, T, bool>(a, b, out, [](T x, T y) { return x <= y; });
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  if (a.dtype() == DType::kBool) {
    run<bool>(call.node.op, a, b, outputs[0]);
    return {};
  }
  return visit_numbers(a.dtype(), [&]<class T>() { run<T>(call.node.op, a, b, outputs[0]); });
}

std::vector<Term> steps(Steps& s) {
  const std::string& op = s.call().node.op;
  const bool turned = op.starts_with("Greater");
  const char* truth = op == "Equal"             ? "IsEqual"
                      : op.ends_with("OrEqual") ? "IsLessOrEqual"
                                                : "IsLess";
  const Term holds = s.one(truth, {s.input(turned ? 1 : 0), s.input(turned ? 0 : 1)});
  return {s.one("Cast", {holds}, {{"to", onnx_of_dtype(DType::kBool)}})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Equal", "Greater", {"GreaterOrEqual", 12}, "Less", {"LessOrEqual", 12}},
    .since = 7,
    .inputs = "T T",
    .types = "fiub",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_compare
