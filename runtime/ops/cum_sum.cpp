// CumSum: floats are summed in float64.
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/elementwise.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_cum_sum {
namespace {

Result<Types> infer(const OpCall& call) {
  if (elements_of(call.shape(1)) != 1) return bad_shape(call, 1);
  if (call.shape(0).empty()) return bad_shape(call, 0);
  return infer_same(call);
}

template <class T>
void run(const OpCall& call, const AxisSpan& span, Tensor& out) {
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  const bool exclusive = call.node.int_attr("exclusive", 0) != 0;
  const bool reverse = call.node.int_attr("reverse", 0) != 0;
  for (int64_t row = 0; row < span.outer * span.inner; ++row) {
    const int64_t at = row / span.inner * span.extent * span.inner + row % span.inner;
    Sum sum = 0;
    for (int64_t a = 0; a < span.extent; ++a) {
      const int64_t i = at + (reverse ? span.extent - 1 - a : a) * span.inner;
      const Sum before = sum;
      sum = wrap_add(sum, static_cast<Sum>(call.tensor(0).data<T>()[i]));
      out.data<T>()[i] = static_cast<T>(exclusive ? before : sum);
    }
  }
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t given, single_integer(call, 1));
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(given, call.tensor(0).rank()));
  const AxisSpan span(call.shape(0), axis);
  return visit_numbers(call.type(0).dtype, [&]<class T>() { run<T>(call, span, outputs[0]); });
}

// The view stays as it is, whichever axis it makes of this one.
Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const Shape& shape = call.shape(0);
  if (shape.size() > kMaxViewRank) return host_only("a tensor has too many axes");
  const auto axis = single_integer(call, 1).and_then(
      [&](int64_t given) { return normal_axis(given, static_cast<int64_t>(shape.size())); });
  if (!axis) return host_only(axis.error().message);
  const auto place = static_cast<size_t>(*axis);
  LoweredCall lowered;
  lowered.op = "cum_sum";
  lowered.view = usable_view(shape, preferred);
  put_nhwc(*view_of(shape, lowered.view), lowered.dims);
  lowered.dims["L"] = shape[place];
  lowered.dims["step"] = steps_of(shape, lowered.view)[place].rows;
  lowered.dims["exclusive"] = call.node.int_attr("exclusive", 0) != 0 ? 1 : 0;
  lowered.dims["reverse"] = call.node.int_attr("reverse", 0) != 0 ? 1 : 0;
  lowered.inputs = {{"x", 0, lowered.view}};
  return kernel_call(std::move(lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"CumSum"},
    .since = 11,
    .inputs = "T i",
    .types = "fiu",
    .attributes = "exclusive:i reverse:i",
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_cum_sum
