// Reshape: the shape as an input, with 0 (keep) and -1 (whatever is left).
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_reshape {
namespace {

Result<int64_t> kept_extent(const Shape& from, size_t axis) {
  if (axis < from.size()) return from[axis];
  return fail(ErrorCode::kInvalidArgument, "Reshape keeps axis {}, which {} does not have", axis,
              to_string(from));
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(Shape shape, call.integers(1));
  const Shape& from = call.shape(0);
  const bool zero_is_zero = call.node.int_attr("allowzero", 0) != 0;
  int64_t open = -1, known = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0 && !zero_is_zero) {
      CLVET_ASSIGN_OR_RETURN(shape[i], kept_extent(from, i));
    }
    if (shape[i] == -1 && open < 0) {
      open = static_cast<int64_t>(i);
    } else if (shape[i] < 0 || __builtin_mul_overflow(known, shape[i], &known)) {
      return fail(ErrorCode::kInvalidArgument, "Reshape's target shape {} is not valid",
                  to_string(shape));
    }
  }
  const int64_t count = elements_of(from);
  if (open >= 0) shape[open] = known ? count / known : 0;
  if ((open >= 0 ? known * shape[open] : known) != count) {
    return fail(ErrorCode::kInvalidArgument, "Reshape cannot turn {} into {}", to_string(from),
                to_string(shape));
  }
  return Types{{call.type(0).dtype, shape}};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Reshape"},
    .since = 5,
    .inputs = "* l",
    .attributes = "allowzero:i",
    .moves_elements = true,
    .infer = infer,
    .host = reshape_on_host,
    .lower = lower_reshape,
};

}  // namespace clvet::op_reshape
