// Cast and CastLike.
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_cast {
namespace {

Result<Types> infer(const OpCall& call) {
  if (call.node.op == "CastLike") {
    if (!call.has(1))
      return fail(ErrorCode::kInvalidArgument, "{} needs its input {}, which is missing",
                  call.node.op, 1);
    return Types{{call.type(1).dtype, call.shape(0)}};
  }
  const int64_t to = call.node.int_attr("to", 0);
  const auto dtype = dtype_of_onnx(to);
  if (!dtype) return fail(ErrorCode::kUnsupported, "Cast to the ONNX type {} is not supported", to);
  return Types{{*dtype, call.shape(0)}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(outputs[0], call.tensor(0).cast(outputs[0].dtype()));
  return {};
}

Lowering lower(const OpCall& call, View preferred) {
  const auto types = infer(call);
  if (!types || !on_device(call.type(0).dtype) || !on_device((*types)[0].dtype)) {
    return host_only("kernels convert only between float types");
  }
  const View view = usable_view(call.shape(0), preferred);
  return lower_alias(view, view);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Cast", {"CastLike", 15}},
    .since = 6,
    .inputs = "* *?",
    .attributes = "to:i saturate:i round_mode:s",
    .moves_elements = true,
    .type_only = 1,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_cast
