#include "runtime/ops/support/shape_rules.h"

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"

namespace clvet {

Result<std::vector<int64_t>> axes_given(const OpCall& call) {
  if (call.has(1)) return call.integers(1);
  const auto* axes = call.node.ints_attr("axes");
  return axes ? *axes : std::vector<int64_t>{};
}

Result<Types> infer_same(const OpCall& call) { return Types{call.type(0)}; }

Result<Types> infer_broadcast(const OpCall& call) {
  TensorType out = call.type(0);
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(out.shape, broadcast(out.shape, call.shape(i)));
  }
  return Types{out};
}

}  // namespace clvet
