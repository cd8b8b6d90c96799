// OneHot: an index outside of the depth makes a row without the on-value.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/result.h"
#include "runtime/graph/onnx_types.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_one_hot {
namespace {

Result<int64_t> axis_of(const OpCall& call) {
  return normal_axis(call.node.int_attr("axis", -1),
                     static_cast<int64_t>(call.shape(0).size()) + 1);
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  if (elements_of(call.shape(2)) != 2) return bad_shape(call, 2);
  CLVET_ASSIGN_OR_RETURN(const int64_t depth, single_integer(call, 1));
  if (depth < 0) return bad_value(call, 1, static_cast<double>(depth));
  Shape out = call.shape(0);
  out.insert(out.begin() + axis, depth);
  return Types{{call.type(2).dtype, out}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.integers(0));
  const AxisSpan span(outputs[0].shape(), axis);
  visit_size(size_of(call.type(2).dtype), [&]<class T>() {
    const T off = call.tensor(2).data<T>()[0], on = call.tensor(2).data<T>()[1];
    T* y = outputs[0].data<T>();
    for (int64_t i = 0; i < outputs[0].elements(); ++i) y[i] = off;
    for (int64_t row = 0; row < span.outer * span.inner; ++row) {
      const int64_t given = indices[static_cast<size_t>(row)];
      const int64_t index = given < 0 ? given + span.extent : given;
      if (index < 0 || index >= span.extent) continue;
      y[(row / span.inner * span.extent + index) * span.inner + row % span.inner] = on;
    }
  });
  return {};
}

// The rows 0 and 1 of the two values.
std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto axis = axis_of(call);
  const auto types = infer(call);
  if (!axis || !types) return {};
  const Shape& out = (*types)[0].shape;
  if (elements_of(out) == 0 || elements_of(out) > kMostPicked) return {};
  Shape apart = call.shape(0), along(out.size(), 1);
  apart.insert(apart.begin() + *axis, 1);
  const int64_t depth = along[static_cast<size_t>(*axis)] = out[static_cast<size_t>(*axis)];
  const Term given = s.reshaped(as_i64(s, s.input(0)), apart);
  const Term below = s.one("Less", {given, integers({0})});
  const Term index = s.one("Where", {below, s.one("Add", {given, integers({depth})}), given});
  const Term is_on = s.one("Equal", {index, s.reshaped(counted(depth), along)});
  const Term row = s.one("Cast", {is_on}, {{"to", onnx_of_dtype(DType::kI64)}});
  return {picked(s, s.reshaped(s.input(2), {2, 1}), row, out)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"OneHot"},
    .since = 9,
    .inputs = "* * *",
    .wants_known = {1},
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_one_hot
