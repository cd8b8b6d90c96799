// Expand to a broadcast shape.
#include "runtime/ops/support/shapes.h"

namespace clvet {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Shape wanted, call.integers(1));
  CLVET_ASSIGN_OR_RETURN(const Shape shape, broadcast(call.shape(0), wanted));
  return Types{{call.type(0).dtype, shape}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  strided_copy(call.tensor(0), 0, broadcast_strides(call.shape(0), outputs[0].shape()), outputs[0]);
  return {};
}

}  // namespace

extern const OpDef op_expand;
const OpDef op_expand{
    .names = {"Expand"},
    .since = 8,
    .inputs = "* l",
    .moves_elements = true,
    .infer = infer,
    .host = host,
};

}  // namespace clvet
