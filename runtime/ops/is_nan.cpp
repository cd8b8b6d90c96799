// IsNaN, IsInf.
#include <cmath>
#include <limits>
#include <vector>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_is_nan {
namespace {

Result<Types> infer(const OpCall& call) { return Types{{DType::kBool, call.shape(0)}}; }

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const bool nan = call.node.op == "IsNaN";
  const bool negative = call.node.int_attr("detect_negative", 1) != 0;
  const bool positive = call.node.int_attr("detect_positive", 1) != 0;
  return visit_floats(call.type(0).dtype, [&]<class T>() {
    map_unary<T, bool>(call.tensor(0), outputs[0], [&](T x) {
      if (nan) return std::isnan(x);
      return std::isinf(x) && (x < 0 ? negative : positive);
    });
  });
}

std::vector<Term> steps(Steps& s) {
  const Term x = s.input(0);
  const bool negative = s.call().node.int_attr("detect_negative", 1) != 0;
  const bool positive = s.call().node.int_attr("detect_positive", 1) != 0;
  const double infinity = std::numeric_limits<double>::infinity();
  Term holds;
  if (s.call().node.op == "IsNaN") {
    holds = s.one("Sub", {number(1), s.one("IsEqual", {x, x})});
  } else if (negative && positive) {
    holds = s.one("IsEqual", {s.one("Abs", {x}), number(infinity)});
  } else if (negative || positive) {
    holds = s.one("IsEqual", {x, number(negative ? -infinity : infinity)});
  } else {
    return {};
  }
  return {s.one("Cast", {holds}, {{"to", onnx_of_dtype(DType::kBool)}})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"IsNaN", {"IsInf", 10}},
    .since = 9,
    .attributes = "detect_negative:i detect_positive:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_is_nan
