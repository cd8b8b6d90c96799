// Slice: bounds as attributes (before opset 10) or inputs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/strided_copy.h"

namespace clvet::op_slice {
namespace {

struct Cut {
  Shape shape;
  std::vector<int64_t> start, step;
};

Result<std::vector<int64_t>> list_of(const OpCall& call, size_t input, const char* attribute) {
  if (call.has(input)) return call.integers(input);
  const auto* list = call.node.ints_attr(attribute);
  return list ? *list : std::vector<int64_t>{};
}

// Clamps one axis as ONNX defines it and counts what is left.
void cut_axis(int64_t extent, int64_t start, int64_t end, int64_t step, size_t axis, Cut& cut) {
  const auto from_end = [&](int64_t at) { return at < 0 ? at + extent : at; };
  const int64_t lowest = step > 0 ? 0 : -1, highest = step > 0 ? extent : extent - 1;
  start = std::clamp(from_end(start), step > 0 ? int64_t{0} : int64_t{0},
                     std::max<int64_t>(highest, 0));
  end = std::clamp(from_end(end), lowest, std::max(highest, lowest));
  const int64_t span = step > 0 ? end - start : start - end;
  const auto pace =
      step > 0 ? static_cast<uint64_t>(step) : uint64_t{0} - static_cast<uint64_t>(step);
  cut.shape[axis] = extent == 0 || span <= 0
                        ? 0
                        : static_cast<int64_t>((static_cast<uint64_t>(span) - 1) / pace + 1);
  cut.start[axis] = start;
  cut.step[axis] = cut.shape[axis] > 1 ? step : 1;
}

Result<Cut> cut_of(const OpCall& call) {
  const Shape& shape = call.shape(0);
  const auto rank = static_cast<int64_t>(shape.size());
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> starts, list_of(call, 1, "starts"));
  CLVET_ASSIGN_OR_RETURN(const std::vector<int64_t> ends, list_of(call, 2, "ends"));
  CLVET_ASSIGN_OR_RETURN(std::vector<int64_t> axes, list_of(call, 3, "axes"));
  CLVET_ASSIGN_OR_RETURN(std::vector<int64_t> steps, list_of(call, 4, ""));
  if (axes.empty()) {
    for (size_t i = 0; i < starts.size(); ++i) axes.push_back(static_cast<int64_t>(i));
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  if (starts.size() != ends.size() || starts.size() != axes.size() ||
      starts.size() != steps.size()) {
    return fail(ErrorCode::kInvalidArgument,
                "Slice needs as many starts as ends, axes and steps, but has {}, {}, {} and {}",
                starts.size(), ends.size(), axes.size(), steps.size());
  }
  Cut cut{shape, std::vector<int64_t>(shape.size(), 0), std::vector<int64_t>(shape.size(), 1)};
  for (size_t i = 0; i < axes.size(); ++i) {
    CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(axes[i], rank));
    if (steps[i] == 0) return fail(ErrorCode::kInvalidArgument, "Slice's step must not be 0");
    cut_axis(shape[axis], starts[i], ends[i], steps[i], static_cast<size_t>(axis), cut);
  }
  return cut;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Cut cut, cut_of(call));
  return Types{{call.type(0).dtype, cut.shape}};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Cut cut, cut_of(call));
  std::vector<int64_t> strides = strides_of(call.shape(0));
  int64_t offset = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    offset += cut.start[i] * strides[i];
    strides[i] *= cut.step[i];
  }
  if (outputs[0].elements()) strided_copy(call.tensor(0), offset, strides, outputs[0]);
  return {};
}

Lowering lower(const OpCall& call, View preferred) {
  const auto cut = cut_of(call);
  if (!cut) return host_only(cut.error().message);
  std::vector<AxisRange> ranges;
  for (size_t i = 0; i < cut->shape.size(); ++i) ranges.push_back({cut->start[i], cut->step[i]});
  return lower_range(call, preferred, cut->shape, ranges);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Slice"},
    .inputs = "* i? i? i? i?",
    .attributes = "starts:I ends:I axes:I",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_slice
