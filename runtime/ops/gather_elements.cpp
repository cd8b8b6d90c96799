// GatherElements.
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_gather_elements {
namespace {

Result<int64_t> axis_of(const OpCall& call) {
  return normal_axis(call.node.int_attr("axis", 0), static_cast<int64_t>(call.shape(0).size()));
}

Result<Types> infer(const OpCall& call) {
  if (call.shape(0).size() != call.shape(1).size() || call.shape(0).empty()) {
    return misfit(call, 0, 1);
  }
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  for (size_t i = 0; i < call.shape(0).size(); ++i) {
    if (static_cast<int64_t>(i) != axis && call.shape(1)[i] > call.shape(0)[i]) {
      return misfit(call, 0, 1);
    }
  }
  return Types{{call.type(0).dtype, call.shape(1)}};
}

// False where an index is outside.
template <class T>
bool pick(const Tensor& data, int64_t axis, const std::vector<int64_t>& indices, Tensor& out) {
  const int64_t extent = data.shape()[axis];
  std::vector<int64_t> strides = strides_of(data.shape());
  const int64_t step = std::exchange(strides[axis], 0);
  const std::vector<int64_t> walk[1] = {strides};
  size_t next = 0;
  bool inside = true;
  T* y = out.data<T>();
  for_each_row(out.shape(), walk, [&](const int64_t(&at)[1]) {
    for (int64_t i = 0; i < out.shape().back(); ++i, ++next) {
      const int64_t index = indices[next] < 0 ? indices[next] + extent : indices[next];
      if (index < 0 || index >= extent) {
        inside = false;
        continue;
      }
      y[next] = data.data<T>()[at[0] + i * strides.back() + index * step];
    }
  });
  return inside;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.integers(1));
  bool inside = true;
  visit_size(size_of(call.type(0).dtype),
             [&]<class T>() { inside = pick<T>(call.tensor(0), axis, indices, outputs[0]); });
  if (inside) return {};
  return index_outside(call);
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto axis = axis_of(call);
  const int64_t elements = elements_of(call.shape(0));
  if (!axis || elements == 0 || elements_of(call.shape(1)) > kMostPicked) return {};
  const Term at = places_along(s, s.input(1), call.shape(0), *axis);
  return {picked(s, s.reshaped(s.input(0), {elements, 1}), at, call.shape(1))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"GatherElements"},
    .since = 11,
    .inputs = "* i",
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_gather_elements
