// And, Or, Xor.
#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_logical {
namespace {

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor &a = call.tensor(0), &b = call.tensor(1);
  Tensor& out = outputs[0];
  const std::string& op = call.node.op;
  if (op == "And")
    map_binary<bool, bool, bool>(a, b, out, [](bool x, bool y) { return x && y; });
  else if (op == "Or")
    map_binary<bool, bool, bool>(a, b, out, [](bool x, bool y) { return x || y; });
  else
    map_binary<bool, bool, bool>(a, b, out, [](bool x, bool y) { return x != y; });
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"And", "Or", "Xor"},
    .since = 7,
    .inputs = "T T",
    .types = "b",
    .infer = infer_broadcast,
    .host = host,
};

}  // namespace clvet::op_logical
