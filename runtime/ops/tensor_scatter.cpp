// TensorScatter: new rows put into a cache, from an index of each sample on.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/picking.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_tensor_scatter {
namespace {

Result<int64_t> axis_of(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", -2));
  if (axis == 0) return bad_attribute(call, "axis", axis);
  return axis;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  const auto at = static_cast<size_t>(axis);
  if (call.type(1).dtype != call.type(0).dtype) return bad_type(call, 1);
  Shape update = call.shape(1);
  if (update.size() != call.shape(0).size() || update[at] > call.shape(0)[at])
    return misfit(call, 0, 1);
  update[at] = call.shape(0)[at];
  if (update != call.shape(0)) return misfit(call, 0, 1);
  if (call.has(2) && call.type(2).dtype != DType::kI64) return bad_type(call, 2);
  if (call.has(2) && call.shape(2) != Shape{call.shape(0)[0]}) return misfit(call, 0, 2);
  return infer_same(call);
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_of(call));
  const AxisSpan cache(call.shape(0), axis), update(call.shape(1), axis);
  std::vector<int64_t> starts(static_cast<size_t>(call.shape(0)[0]));
  if (call.has(2)) {
    CLVET_ASSIGN_OR_RETURN(starts, call.integers(2));
  }
  const bool circular = call.node.string_attr("mode", "linear") == "circular";
  for (const int64_t start : starts) {
    if (start < 0 || start > cache.extent - (circular ? 1 : update.extent))
      return index_outside(call);
  }
  std::memcpy(outputs[0].raw(), call.tensor(0).raw(), outputs[0].bytes());
  const size_t block = size_of(call.type(0).dtype) * static_cast<size_t>(cache.inner);
  const int64_t per_sample = cache.outer / call.shape(0)[0];
  for (int64_t o = 0; o < cache.outer; ++o) {
    for (int64_t i = 0; i < update.extent; ++i) {
      const int64_t row = (starts[static_cast<size_t>(o / per_sample)] + i) % cache.extent;
      std::memcpy(outputs[0].raw() + static_cast<size_t>(o * cache.extent + row) * block,
                  call.tensor(1).raw() + static_cast<size_t>(o * update.extent + i) * block, block);
    }
  }
  return {};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto axis = axis_of(call);
  const int64_t elements = elements_of(call.shape(0));
  if (!axis || !infer(call) || elements == 0 || elements > kMostPicked ||
      elements_of(call.shape(1)) == 0)
    return {};
  const AxisSpan cache(call.shape(0), *axis), update(call.shape(1), *axis);
  const int64_t batch = call.shape(0)[0], rows = cache.outer * cache.extent;
  const bool circular = call.node.string_attr("mode", "linear") == "circular";
  const int64_t starts = cache.extent - (circular ? 0 : update.extent - 1);
  const Term given = call.has(2) ? s.input(2) : integers(std::vector<int64_t>(batch, 0));
  const Term start = s.reshaped(numbers_inside(s, given, starts, false), {batch, 1, 1});
  const Term row =
      s.one("Mod", {s.one("Add", {start, counted(update.extent)}), integers({cache.extent})});
  const Term first =
      s.reshaped(counted(cache.outer, cache.extent), {batch, cache.outer / batch, 1});
  const Term places = s.one("Add", {row, first});
  return {with_rows(s, s.reshaped(s.input(0), {rows, cache.inner}),
                    s.reshaped(s.input(1), {cache.outer * update.extent, cache.inner}), places,
                    call.shape(0))};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"TensorScatter"},
    .since = 24,
    .inputs = "* * *?",
    .attributes = "axis:i mode:s=linear|circular",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_tensor_scatter
