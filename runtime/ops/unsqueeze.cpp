// Unsqueeze: new axes of extent 1.
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_unsqueeze {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape& from = call.shape(0);
  CLVET_ASSIGN_OR_RETURN(std::vector<int64_t> axes, axes_given(call));
  const auto rank = static_cast<int64_t>(from.size() + axes.size());
  CLVET_ASSIGN_OR_RETURN(axes, normal_axes(axes, rank));
  Shape shape = from;
  for (const int64_t axis : axes) shape.insert(shape.begin() + axis, 1);
  return Types{{call.type(0).dtype, shape}};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Unsqueeze"},
    .inputs = "* l?",
    .attributes = "axes:I",
    .moves_elements = true,
    .infer = infer,
    .host = reshape_on_host,
    .lower = lower_reshape,
};

}  // namespace clvet::op_unsqueeze
