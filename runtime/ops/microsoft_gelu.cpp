// Gelu, BiasGelu, FastGelu and QuickGelu of com.microsoft.
#include <string>
#include <vector>

#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_microsoft_gelu {
namespace {

constexpr double kQuickAlpha = 1.702;

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const bool biased = call.node.op == "BiasGelu" || call.node.op == "FastGelu";
  if (call.node.op == "BiasGelu" && !call.has(1)) return s.refuse(missing_input(call, 1));
  if (!biased && call.has(1)) return s.refuse(bad_shape(call, 1));
  Term x = s.input(0);
  if (call.has(1)) {
    const Shape& shape = x.shape();
    if (shape.empty() || call.shape(1) != Shape{shape.back()}) return s.refuse(misfit(call, 0, 1));
    x = s.one("Add", {x, s.input(1)});
  }
  if (call.node.op == "QuickGelu")
    return {s.one("Swish", {x}, {{"alpha", call.node.float_attr("alpha", kQuickAlpha)}})};
  const std::string how = call.node.op == "FastGelu" ? "tanh" : "none";
  return {s.one("Gelu", {x}, {{"approximate", how}})};
}

Lowering lower(const OpCall& call, View preferred) {
  if (call.has(1) || call.node.op == "QuickGelu") return no_kernel(call);
  return lower_unary(call, {call.node.op == "FastGelu" ? Act::kGeluTanh : Act::kGeluErf},
                     preferred);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Gelu", "BiasGelu", "FastGelu", "QuickGelu"},
    .domain = kMicrosoft,
    .inputs = "T T?",
    .types = "s",
    .wants_known = {1},
    .attributes = "alpha:f",
    .infer = infer_steps<steps>,
    .host = host_steps<steps>,
    .lower = lower,
    .expand = steps,
};

}  // namespace clvet::op_microsoft_gelu
