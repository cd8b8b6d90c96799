// ArgMax and ArgMin. A row with NaN answers where its first (or last) NaN is, as numpy does.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/extremes.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_arg_max {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 0));
  Shape out = call.shape(0);
  if (out[static_cast<size_t>(axis)] == 0) return bad_shape(call, 0);
  if (call.node.int_attr("keepdims", 1) != 0)
    out[static_cast<size_t>(axis)] = 1;
  else
    out.erase(out.begin() + axis);
  return Types{{DType::kI64, out}};
}

template <class T>
bool beats(T a, T b, bool least) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && !std::isnan(b);
  }
  return least ? a < b : a > b;
}

template <class T>
void run(const OpCall& call, const AxisSpan& span, Tensor& out) {
  const bool least = call.node.op == "ArgMin";
  const bool last = call.node.int_attr("select_last_index", 0) != 0;
  for (int64_t row = 0; row < span.outer * span.inner; ++row) {
    const T* x =
        call.tensor(0).data<T>() + row / span.inner * span.extent * span.inner + row % span.inner;
    int64_t best = 0;
    for (int64_t a = 1; a < span.extent; ++a) {
      const T one = x[a * span.inner], other = x[best * span.inner];
      if (last ? !beats(other, one, least) : beats(one, other, least)) best = a;
    }
    out.data<int64_t>()[row] = best;
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 0));
  const AxisSpan span(call.shape(0), axis);
  return visit_numbers(call.type(0).dtype, [&]<class T>() { run<T>(call, span, outputs[0]); });
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto axis = axis_attribute(call, "axis", 0);
  const auto types = infer(call);
  if (!axis || !types || elements_of((*types)[0].shape) == 0) return {};
  const int64_t extent = call.shape(0)[static_cast<size_t>(*axis)];
  if (extent > kLongestCounted) return {};
  const bool last = call.node.int_attr("select_last_index", 0) != 0;
  const Extremes found = extremes(s, s.input(0), *axis, call.node.op == "ArgMin", last);
  const Term place = last ? s.one("Sub", {found.best, number(1)})
                          : s.one("Sub", {number(static_cast<double>(extent)), found.best});
  const Term flat = s.reshaped(place, (*types)[0].shape);
  return {s.one("Cast", {flat}, {{"to", onnx_of_dtype(DType::kI64)}})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"ArgMax", "ArgMin"},
    .types = "fiu",
    .attributes = "axis:i keepdims:i select_last_index:i",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_arg_max
