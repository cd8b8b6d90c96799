// ScatterElements, and Scatter as it was called before.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/scatter.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_scatter_elements {
namespace {

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 0));
  if (call.type(2).dtype != call.type(0).dtype) return bad_type(call, 2);
  if (call.shape(1) != call.shape(2)) return misfit(call, 1, 2);
  if (call.shape(0).size() != call.shape(1).size()) return misfit(call, 0, 1);
  for (size_t i = 0; i < call.shape(0).size(); ++i) {
    const bool along = static_cast<int64_t>(i) == axis;
    if (!along && call.shape(1)[i] > call.shape(0)[i]) return misfit(call, 0, 1);
  }
  return infer_same(call);
}

// False where an index is outside.
template <class T>
bool scatter(const OpCall& call, int64_t axis, const std::vector<int64_t>& indices, Tensor& out) {
  const Tensor& updates = call.tensor(2);
  const Reduction reduction = reduction_of(call.node.string_attr("reduction", "none"));
  const int64_t extent = out.dim(axis);
  std::vector<int64_t> strides = strides_of(out.shape());
  const int64_t step = std::exchange(strides[static_cast<size_t>(axis)], 0);
  const std::vector<int64_t> walk[1] = {strides};
  size_t next = 0;
  bool inside = true;
  for_each_row(updates.shape(), walk, [&](const int64_t(&at)[1]) {
    for (int64_t i = 0; i < updates.shape().back(); ++i, ++next) {
      const int64_t index = indices[next] < 0 ? indices[next] + extent : indices[next];
      if (index < 0 || index >= extent) {
        inside = false;
        continue;
      }
      reduce_into(reduction, out.data<T>()[at[0] + i * strides.back() + index * step],
                  updates.data<T>()[next]);
    }
  });
  return inside;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 0));
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.integers(1));
  std::memcpy(outputs[0].raw(), call.tensor(0).raw(), outputs[0].bytes());
  bool inside = true;
  visit(call.type(0).dtype, [&]<class T>() {
    if constexpr (!kIsShortFloat<T>) inside = scatter<T>(call, axis, indices, outputs[0]);
  });
  if (!inside) return index_outside(call);
  return {};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto axis = axis_attribute(call, "axis", 0);
  const int64_t elements = elements_of(call.shape(0)), count = elements_of(call.shape(1));
  if (!axis || elements == 0 || count == 0 || elements + count > kMostPicked) return {};
  const Term places = places_along(s, s.input(1), call.shape(0), *axis);
  const Term table = s.reshaped(s.input(0), {elements, 1}),
             updates = s.reshaped(s.input(2), {count, 1});
  const auto [op, neutral] = step_of(reduction_of(call.node.string_attr("reduction", "none")));
  if (op) return with_rows_reduced(s, table, updates, places, call.shape(0), op, neutral);
  return {with_rows(s, table, updates, places, call.shape(0))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {{"ScatterElements", 11}, "Scatter"},
    .since = 9,
    .inputs = "* i *",
    .attributes = "axis:i reduction:s=none|add|mul|max|min",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_scatter_elements
