// Transpose.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/strided_copy.h"

namespace clvet::op_transpose {
namespace {

Result<std::vector<int64_t>> perm_of(const OpCall& call) {
  const size_t rank = call.shape(0).size();
  std::vector<int64_t> perm;
  if (const auto* given = call.node.ints_attr("perm"))
    perm = *given;
  else
    for (size_t i = rank; i-- > 0;) perm.push_back(static_cast<int64_t>(i));
  std::vector<int64_t> sorted = perm;
  std::sort(sorted.begin(), sorted.end());
  bool all_once = sorted.size() == rank;
  for (size_t i = 0; all_once && i < rank; ++i) all_once = sorted[i] == static_cast<int64_t>(i);
  if (!all_once) {
    return fail(ErrorCode::kInvalidArgument,
                "Transpose of {} needs a permutation of its axes, not {}", to_string(call.shape(0)),
                to_string(perm));
  }
  return perm;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, perm_of(call));
  TensorType out{call.type(0).dtype, {}};
  for (const int64_t axis : perm) out.shape.push_back(call.shape(0)[axis]);
  return Types{out};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> perm, perm_of(call));
  const std::vector<int64_t> from = strides_of(call.shape(0));
  std::vector<int64_t> strides;
  for (const int64_t axis : perm) strides.push_back(from[axis]);
  strided_copy(call.tensor(0), 0, strides, outputs[0]);
  return {};
}

// A change of view alone; who needs the elements elsewhere moves them.
Lowering lower(const OpCall& call, View preferred) {
  const auto perm = perm_of(call);
  if (!perm) return host_only(perm.error().message);
  return lower_transpose(call, *perm, preferred);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Transpose"},
    .inputs = "*",
    .attributes = "perm:I",
    .moves_elements = true,
    .fills_floats = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_transpose
