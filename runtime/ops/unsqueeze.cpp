// Unsqueeze: new axes of extent 1.
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shapes.h"

namespace clvet::op_unsqueeze {
namespace {

Result<std::vector<int64_t>> axes_of(const OpCall& call) {
  if (call.has(1)) return call.integers(1);
  const auto* axes = call.node.ints_attr("axes");
  return axes ? *axes : std::vector<int64_t>{};
}

Result<Types> infer(const OpCall& call) {
  const Shape& from = call.shape(0);
  CLVET_ASSIGN_OR_RETURN(std::vector<int64_t> axes, axes_of(call));
  const auto rank = static_cast<int64_t>(from.size() + axes.size());
  CLVET_ASSIGN_OR_RETURN(axes, normal_axes(axes, rank));
  Shape shape = from;
  for (const int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
  return Types{{call.type(0).dtype, shape}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  outputs[0] = call.tensor(0).reshaped(outputs[0].shape());
  return {};
}

Lowering lower(const OpCall& call, View preferred) { return lower_reshape(call, preferred); }

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Unsqueeze"},
    .inputs = "* l?",
    .attributes = "axes:I",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_unsqueeze
