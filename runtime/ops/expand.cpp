// Expand to a broadcast shape.
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/strided_copy.h"

namespace clvet::op_expand {
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

Lowering lower(const OpCall& call, View preferred) {
  const auto types = infer(call);
  if (!types) return host_only(types.error().message);
  const Shape& shape = (*types)[0].shape;
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  auto repeat = repeat_call(0, padded_shape(call.shape(0), shape.size()), shape,
                            usable_view(shape, preferred));
  if (!repeat) return host_only(kTooManyAxes);
  repeat->output = 0;
  repeat->view = usable_view(shape, preferred);
  return kernel_call(std::move(*repeat));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Expand"},
    .since = 8,
    .inputs = "* l",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_expand
