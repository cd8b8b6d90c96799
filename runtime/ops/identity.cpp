// Identity, and Dropout outside training.
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_identity {
namespace {

Result<Types> infer(const OpCall& call) {
  if (call.node.op == "Identity") return infer_same(call);
  if (call.has(2)) {
    CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> training, call.integers(2));
    if (!training.empty() && training[0] != 0) {
      return fail(ErrorCode::kUnsupported,
                  "Dropout in training mode is not supported; export the model for inference");
    }
  }
  return Types{call.type(0), {DType::kBool, call.shape(0)}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  outputs[0] = call.tensor(0);
  if (call.node.outputs.size() > 1) {
    std::fill_n(outputs[1].data<bool>(), outputs[1].elements(), true);
  }
  return {};
}

Lowering lower(const OpCall& call, View preferred) {
  if (call.node.outputs.size() > 1) return host_only("its mask output is used");
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const View view = usable_view(call.shape(0), preferred);
  return lower_alias(view, view);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Identity", "Dropout"},
    .inputs = "* f? b?",
    .attributes = "ratio:f seed:i is_test:i",
    .max_outputs = 2,
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_identity
