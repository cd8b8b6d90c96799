// RMSNormalization, and SimplifiedLayerNormalization, as onnxruntime writes it in ONNX's domain
// since any version: divided by the root of the mean square of all axes from `axis` on.
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/normalization.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_rms_normalization {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(Types types, infer_row_norm(call));
  types.resize(1);
  return types;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return row_norm_on_host(call, outputs, true);
}

Lowering lower(const OpCall& call, View) { return lower_row_norm(call, true); }

std::vector<Term> steps(Steps& s) { return row_norm_steps(s, true); }

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {{"RMSNormalization", 23}, "SimplifiedLayerNormalization"},
    .inputs = "T T",
    .wants_known = {1},
    .attributes = "axis:i epsilon:f stash_type:i",
    .infer = infer,
    .host = host,
    .lower = lower,
    .expand = steps,
    .constant = row_norm_constant,
};

}  // namespace clvet::op_rms_normalization
