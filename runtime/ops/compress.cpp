// Compress: the slices of an axis, or the elements, for which a condition holds.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/support/axis_span.h"
#include "runtime/ops/support/refusals.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/steps.h"

namespace clvet::op_compress {
namespace {

bool has_axis(const OpCall& call) { return call.node.attributes.contains("axis"); }

// The input as one axis that is cut.
Result<AxisSpan> span_of(const OpCall& call) {
  if (!has_axis(call)) return AxisSpan({elements_of(call.shape(0))}, 0);
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 0));
  return AxisSpan(call.shape(0), axis);
}

Result<std::vector<int64_t>> kept_of(const OpCall& call, int64_t extent) {
  if (call.shape(1).size() != 1 || call.shape(1)[0] > extent) return misfit(call, 0, 1);
  CLVET_ASSIGN_OR_RETURN(const auto conditions, call.integers(1));
  std::vector<int64_t> kept;
  for (size_t i = 0; i < conditions.size(); ++i) {
    if (conditions[i]) kept.push_back(static_cast<int64_t>(i));
  }
  return kept;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const AxisSpan span, span_of(call));
  CLVET_ASSIGN_OR_RETURN(const auto kept, kept_of(call, span.extent));
  const auto count = static_cast<int64_t>(kept.size());
  if (!has_axis(call)) return Types{{call.type(0).dtype, {count}}};
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, axis_attribute(call, "axis", 0));
  Shape out = call.shape(0);
  out[static_cast<size_t>(axis)] = count;
  return Types{{call.type(0).dtype, out}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const AxisSpan span, span_of(call));
  CLVET_ASSIGN_OR_RETURN(const auto kept, kept_of(call, span.extent));
  const size_t block = size_of(call.type(0).dtype) * static_cast<size_t>(span.inner);
  std::byte* to = outputs[0].raw();
  for (int64_t o = 0; o < span.outer; ++o) {
    for (const int64_t a : kept) {
      std::memcpy(to, call.tensor(0).raw() + static_cast<size_t>(o * span.extent + a) * block,
                  block);
      to += block;
    }
  }
  return {};
}

std::vector<Term> steps(Steps& s) {
  const OpCall& call = s.call();
  const auto span = span_of(call);
  if (!span || !call.inputs[1].value) return {};
  auto kept = kept_of(call, span->extent);
  if (!kept || kept->empty()) return {};
  const Term x = has_axis(call) ? s.input(0) : s.reshaped(s.input(0), {span->extent});
  const auto axis = has_axis(call) ? axis_attribute(call, "axis", 0) : Result<int64_t>(0);
  return {s.one("Gather", {x, integers(*kept)}, {{"axis", *axis}})};
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Compress"},
    .since = 9,
    .inputs = "* b",
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .expand = steps,
};

}  // namespace clvet::op_compress
