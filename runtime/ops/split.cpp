// Split: parts from an attribute, an input or a number of outputs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"
#include "runtime/ops/support/strided_copy.h"

namespace clvet::op_split {
namespace {

struct Parts {
  int64_t axis = 0;
  std::vector<int64_t> lengths;
};

std::vector<int64_t> even_lengths(int64_t length, int64_t count) {
  const int64_t each = (length + count - 1) / count;
  std::vector<int64_t> lengths;
  for (int64_t i = 0; i < count; ++i) {
    lengths.push_back(std::clamp<int64_t>(length - i * each, 0, each));
  }
  return lengths;
}

bool add_up_to(int64_t length, const std::vector<int64_t>& parts) {
  int64_t sum = 0;
  for (const int64_t part : parts) {
    if (part < 0 || part > length - sum) return false;
    sum += part;
  }
  return sum == length;
}

Result<Parts> parts_of(const OpCall& call) {
  const Shape& shape = call.shape(0);
  Parts parts;
  CLVET_ASSIGN_OR_RETURN(
      parts.axis, normal_axis(call.node.int_attr("axis", 0), static_cast<int64_t>(shape.size())));
  const int64_t length = shape[parts.axis];
  const size_t count = call.node.outputs.size();
  if (call.has(1)) {
    CLVET_ASSIGN_OR_RETURN(parts.lengths, call.integers(1));
  } else if (const auto* split = call.node.ints_attr("split")) {
    parts.lengths = *split;
  } else {
    parts.lengths = even_lengths(length, static_cast<int64_t>(count));
  }
  if (!add_up_to(length, parts.lengths) || parts.lengths.size() != count) {
    return fail(ErrorCode::kInvalidArgument, "Split cannot cut {} into {} along axis {}",
                to_string(shape), to_string(parts.lengths), parts.axis);
  }
  return parts;
}

Result<Types> infer(const OpCall& call) {
  CLVET_ASSIGN_OR_RETURN(const Parts parts, parts_of(call));
  Types types;
  for (const int64_t length : parts.lengths) {
    types.push_back(call.type(0));
    types.back().shape[parts.axis] = length;
  }
  return types;
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  CLVET_ASSIGN_OR_RETURN(const Parts parts, parts_of(call));
  const std::vector<int64_t> strides = strides_of(call.shape(0));
  int64_t first = 0;
  for (size_t i = 0; i < outputs.size(); ++i) {
    strided_copy(call.tensor(0), first * strides[parts.axis], strides, outputs[i]);
    first += parts.lengths[i];
  }
  return {};
}

Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto parts = parts_of(call);
  if (!parts) return host_only(parts.error().message);
  const View view = usable_view(call.shape(0), preferred);
  std::vector<LoweredCall> calls;
  std::vector<AxisRange> ranges(call.shape(0).size());
  for (size_t i = 0; i < parts->lengths.size(); ++i) {
    if (parts->lengths[i] == 0) continue;
    Shape shape = call.shape(0);
    shape[static_cast<size_t>(parts->axis)] = parts->lengths[i];
    auto part = range_call(call, view, shape, ranges, static_cast<int>(i));
    if (!part) return host_only(kTooManyAxes);
    ranges[static_cast<size_t>(parts->axis)].start += parts->lengths[i];
    if (call.node.outputs[i] != kNoValue) calls.push_back(std::move(*part));
  }
  return kernel_calls(std::move(calls));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Split"},
    .inputs = "* l?",
    .attributes = "axis:i split:I num_outputs:i",
    .max_outputs = 4096,
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_split
