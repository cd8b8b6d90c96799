// Not.
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_not {
namespace {

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  map_unary<bool, bool>(call.tensor(0), outputs[0], [](bool x) { return !x; });
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Not"},
    .types = "b",
    .infer = infer_same,
    .host = host,
};

}  // namespace clvet::op_not
