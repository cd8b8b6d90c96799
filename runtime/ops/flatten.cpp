// Flatten to a matrix.
#include <cstdint>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_flatten {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape& from = call.shape(0);
  const auto rank = static_cast<int64_t>(from.size());
  int64_t axis = call.node.int_attr("axis", 1);
  if (axis < 0) axis += rank;
  if (axis < 0 || axis > rank) {
    return fail(ErrorCode::kInvalidArgument, "Flatten cannot split {} at axis {}", to_string(from),
                axis);
  }
  Shape shape{1, 1};
  for (int64_t i = 0; i < rank; ++i) shape[i < axis ? 0 : 1] *= from[i];
  return Types{{call.type(0).dtype, shape}};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Flatten"},
    .inputs = "*",
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = reshape_on_host,
    .lower = lower_reshape,
};

}  // namespace clvet::op_flatten
