// Not.
#include "runtime/ops/support/elementwise.h"

namespace clvet {
namespace {

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  map_unary<bool, bool>(call.tensor(0), outputs[0], [](bool x) { return !x; });
  return {};
}

}  // namespace

extern const OpDef op_not;
const OpDef op_not{
    .names = {"Not"},
    .types = "b",
    .infer = infer_same,
    .host = host,
};

}  // namespace clvet
