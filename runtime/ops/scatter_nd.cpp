// ScatterND.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
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
#include "runtime/ops/support/tuples.h"

namespace clvet::op_scatter_nd {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape &data = call.shape(0), &indices = call.shape(1);
  if (call.type(2).dtype != call.type(0).dtype) return bad_type(call, 2);
  if (data.empty()) return bad_shape(call, 0);
  if (indices.empty()) return bad_shape(call, 1);
  const int64_t depth = indices.back();
  if (depth < 1 || depth > static_cast<int64_t>(data.size())) return misfit(call, 0, 1);
  Shape updates(indices.begin(), indices.end() - 1);
  updates.insert(updates.end(), data.begin() + depth, data.end());
  if (call.shape(2) != updates) return misfit(call, 1, 2);
  return infer_same(call);
}

// False where an index is outside.
template <class T>
bool scatter(const OpCall& call, const std::vector<int64_t>& indices, Tensor& out) {
  const Reduction reduction = reduction_of(call.node.string_attr("reduction", "none"));
  const auto depth = static_cast<size_t>(call.shape(1).back());
  const int64_t block = elements_of(std::span(out.shape()).subspan(depth));
  const std::vector<int64_t> strides = strides_of(out.shape());
  const T* update = call.tensor(2).data<T>();
  for (size_t at = 0; at < indices.size(); at += depth) {
    const int64_t offset =
        tuple_offset(std::span(indices).subspan(at, depth), out.shape(), strides);
    if (offset < 0) return false;
    for (int64_t i = 0; i < block; ++i)
      reduce_into(reduction, out.data<T>()[offset + i], *update++);
  }
  return true;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> indices, call.integers(1));
  std::memcpy(outputs[0].raw(), call.tensor(0).raw(), outputs[0].bytes());
  bool inside = true;
  visit(call.type(0).dtype, [&]<class T>() {
    if constexpr (!kIsShortFloat<T>) inside = scatter<T>(call, indices, outputs[0]);
  });
  if (!inside) return index_outside(call);
  return {};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const Shape &data = call.shape(0), &indices = call.shape(1);
  const int64_t numbers = elements_of(indices);
  if (!infer(call) || elements_of(data) == 0 || numbers == 0 || numbers > kMostPicked) return {};
  const auto extents = std::span(data).first(static_cast<size_t>(indices.back()));
  const int64_t rows = elements_of(extents), tuples = numbers / indices.back();
  const int64_t block = elements_of(data) / rows;
  const Term places = rows_of_tuples(s, s.reshaped(s.input(1), {tuples, indices.back()}), extents);
  const Term table = s.reshaped(s.input(0), {rows, block}),
             updates = s.reshaped(s.input(2), {tuples, block});
  const auto [op, neutral] = step_of(reduction_of(call.node.string_attr("reduction", "none")));
  if (op) return with_rows_reduced(s, table, updates, places, data, op, neutral);
  return {with_rows(s, table, updates, places, data)};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"ScatterND"},
    .since = 11,
    .inputs = "* i *",
    .attributes = "reduction:s=none|add|mul|max|min",
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_scatter_nd
