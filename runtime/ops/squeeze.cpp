// Squeeze: the named axes of extent 1, or all of them.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_squeeze {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape& from = call.shape(0);
  CLVET_ASSIGN_OR_RETURN(std::vector<int64_t> axes, axes_given(call));
  if (axes.empty()) {
    for (size_t i = 0; i < from.size(); ++i) {
      if (from[i] == 1) axes.push_back(static_cast<int64_t>(i));
    }
  }
  CLVET_ASSIGN_OR_RETURN(axes, normal_axes(axes, static_cast<int64_t>(from.size())));
  Shape shape;
  size_t next = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (next == axes.size() || axes[next] != static_cast<int64_t>(i)) {
      shape.push_back(from[i]);
      continue;
    }
    ++next;
    if (from[i] != 1) {
      return fail(ErrorCode::kInvalidArgument,
                  "Squeeze cannot remove axis {} of {}: its extent is not 1", i, to_string(from));
    }
  }
  return Types{{call.type(0).dtype, shape}};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Squeeze"},
    .inputs = "* l?",
    .attributes = "axes:I",
    .moves_elements = true,
    .infer = infer,
    .host = reshape_on_host,
    .lower = lower_reshape,
};

}  // namespace clvet::op_squeeze
