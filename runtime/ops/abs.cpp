// Abs, Neg, Sign: also on integers.
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shapes.h"

namespace clvet::op_abs {
namespace {

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor& x = call.tensor(0);
  const std::string& op = call.node.op;
  return visit_numbers(x.dtype(), [&]<class T>() {
    if (op == "Neg")
      map_unary<T, T>(x, outputs[0], [](T v) { return wrap_sub(T{0}, v); });
    else if (op == "Sign")
      map_unary<T, T>(x, outputs[0], [](T v) { return static_cast<T>((v > 0) - (v < 0)); });
    else
      map_unary<T, T>(x, outputs[0], [](T v) { return v < 0 ? wrap_sub(T{0}, v) : v; });
  });
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Abs", "Neg", "Sign"},
    .since = 6,
    .types = "fiu",
    .infer = infer_same,
    .host = host,
};

}  // namespace clvet::op_abs
