// Gelu, exact or by tanh.
#include <cmath>
#include <numbers>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_gelu {
namespace {

bool by_tanh(const Node& node) { return node.string_attr("approximate", "none") == "tanh"; }

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const bool tanh = by_tanh(call.node);
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    const T root = static_cast<T>(std::sqrt(2 / std::numbers::pi));
    const T half_root = static_cast<T>(1 / std::numbers::sqrt2);
    map_unary<T, T>(call.tensor(0), outputs[0], [&](T x) {
      // Not by 1 + tanh or 1 + erf, of which nothing is left for x far below 0.
      if (tanh) {
        return x / (1 + std::exp(-2 * root * (x + static_cast<T>(0.044715) * x * x * x)));
      }
      return T(0.5) * x * std::erfc(-x * half_root);
    });
  });
}

Lowering lower(const OpCall& call, View preferred) {
  return lower_unary(call, {by_tanh(call.node) ? Act::kGeluTanh : Act::kGeluErf}, preferred);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Gelu"},
    .since = 20,
    .attributes = "approximate:s=none|tanh",
    .infer = infer_same,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_gelu
