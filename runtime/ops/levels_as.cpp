// AsFloats and AsIntegers: where levels leave the host, and where they come back
// (runtime/ops/contract/steps_domain.h).
#include <vector>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/steps_domain.h"
#include "runtime/ops/support/quantization.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_levels_as {
namespace {

Result<Types> infer(const OpCall& call) {
  const DType from = call.type(0).dtype;
  if (call.node.op == kAsFloats) {
    if (!is_quantized(from) && from != DType::kI32) return bad_type(call, 0);
    return Types{{DType::kF32, call.shape(0)}};
  }
  if (from != DType::kF32) return bad_type(call, 0);
  const auto to = dtype_of_onnx(call.node.int_attr("to", 0));
  if (!to || !is_quantized(*to)) return bad_attribute(call, "to", call.node.int_attr("to", 0));
  return Types{{*to, call.shape(0)}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(outputs[0], call.tensor(0).cast(outputs[0].dtype()));
  return {};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {kAsFloats.data(), kAsIntegers.data()},
    .domain = kStepsDomain,
    .inputs = "*",
    .attributes = "to:i",
    .infer = infer,
    .host = host,
};

}  // namespace clvet::op_levels_as
