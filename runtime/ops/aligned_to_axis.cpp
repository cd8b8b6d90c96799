// AlignedToAxis: what `axis` of a broadcast was before operator set 7.
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_aligned_to_axis {
namespace {

Result<Types> infer(const OpCall& call) {
  TensorType out = call.type(0);
  if (elements_of(out.shape) == 1) {
    out.shape = {1};
    return Types{out};
  }
  const auto rank = static_cast<int64_t>(call.shape(1).size());
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(call.node.int_attr("axis", 0), rank));
  if (axis + std::ssize(out.shape) > rank) return misfit(call, 0, 1);
  out.shape.resize(static_cast<size_t>(rank - axis), 1);
  return Types{out};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kAlignedToAxis.data()},
    .domain = kStepsDomain,
    .inputs = "* *",
    .attributes = "axis:i",
    .moves_elements = true,
    .type_only = 1,
    .infer = infer,
    .host = reshape_on_host,
    .lower = lower_reshape,
};

}  // namespace clvet::op_aligned_to_axis
