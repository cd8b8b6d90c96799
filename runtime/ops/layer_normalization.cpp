// LayerNormalization: over all axes from `axis` on, statistics in float64.
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/normalization.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_layer_normalization {
namespace {

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  return row_norm_on_host(call, outputs, false);
}

Lowering lower(const OpCall& call, View) { return lower_row_norm(call, false); }

std::vector<Term> steps(Steps& s) { return row_norm_steps(s, false); }

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"LayerNormalization"},
    .since = 17,
    .inputs = "T T T?",
    .wants_known = {1, 2},
    .attributes = "axis:i epsilon:f stash_type:i",
    .max_outputs = 3,
    .infer = infer_row_norm,
    .host = host,
    .lower = lower,
    .expand = steps,
    .constant = row_norm_constant,
};

}  // namespace clvet::op_layer_normalization
