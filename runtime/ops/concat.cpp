// Concat along an axis.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shape_rules.h"

namespace clvet::op_concat {
namespace {

Result<Types> infer(const OpCall& call) {
  TensorType out = call.type(0);
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(call.node.int_attr("axis", 1),
                                                         static_cast<int64_t>(out.shape.size())));
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    Shape other = call.shape(i), first = out.shape;
    if (other.size() == first.size()) {
      out.shape[axis] += other[axis];
      other[axis] = first[axis] = 0;
    }
    if (other != first) {
      return fail(ErrorCode::kInvalidArgument, "Concat cannot join {} and {} along axis {}",
                  to_string(call.shape(0)), to_string(call.shape(i)), axis);
    }
  }
  return Types{out};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Shape& shape = outputs[0].shape();
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(call.node.int_attr("axis", 1),
                                                         static_cast<int64_t>(shape.size())));
  const int64_t outer = elements_of(std::span(shape).first(axis));
  const size_t element = size_of(outputs[0].dtype());
  std::byte* to = outputs[0].raw();
  for (int64_t o = 0; o < outer; ++o) {
    for (const OpInput& input : call.inputs) {
      const size_t bytes =
          element * static_cast<size_t>(elements_of(std::span(input.type.shape).subspan(axis)));
      if (bytes) std::memcpy(to, input.value->raw() + static_cast<size_t>(o) * bytes, bytes);
      to += bytes;
    }
  }
  return {};
}

constexpr size_t kInputsOfACall = 4;

// The output as four extents of which one, `axis` of the contract, is the joined one.
struct Joined {
  Nhwc extent;
  int64_t axis = 3;
};
Joined joined_of(const Shape& shape, const View& view, int64_t axis) {
  const std::vector<int64_t> order = view.order(shape.size());
  const auto place =
      static_cast<size_t>(std::find(order.begin(), order.end(), axis) - order.begin());
  const auto product = [&](size_t from, size_t to) {
    int64_t all = 1;
    for (size_t i = from; i < to; ++i) all *= shape[static_cast<size_t>(order[i])];
    return all;
  };
  const size_t rank = order.size(), behind = rank - 1 - place;
  const int64_t own = shape[static_cast<size_t>(axis)], c = product(rank - 1, rank);
  if (behind == 0) return {*view_of(shape, view), 3};
  if (behind == 1) return {{1, product(0, place), own, c}, 2};
  if (behind == 2) return {{product(0, place), own, product(place + 1, rank - 1), c}, 1};
  if (place == 0 && behind == 3) {
    return {{own, product(1, 2), product(2, 3), c}, 0};
  }
  return {{product(0, place), own, product(place + 1, rank - 1), c}, 1};
}

void put_part(LoweredInput input, int64_t length, LoweredCall& lowered) {
  const std::string number = std::to_string(lowered.inputs.size() + 1);
  input.role = "x" + number;
  lowered.inputs.push_back(std::move(input));
  lowered.dims["P" + number] = length;
}

// What the calls so far have made of the first inputs.
struct Progress {
  std::vector<size_t> of;  // the inputs that have elements
  Shape shape;
  size_t inputs = 0;
  int calls = 0;
};

// Joins as many of the next inputs as one call takes to what the call before has made.
LoweredCall next_call(const OpCall& call, size_t axis, const View& view, Progress& done) {
  LoweredCall lowered;
  lowered.op = "concat";
  lowered.view = view;
  int64_t& length = done.shape[axis];
  if (done.calls > 0) put_part({"", -done.calls, View::kChannelsLast}, length, lowered);
  while (lowered.inputs.size() < kInputsOfACall && done.inputs < done.of.size()) {
    const size_t input = done.of[done.inputs++];
    const int64_t part = call.shape(input)[axis];
    put_part({"", static_cast<int>(input), view}, part, lowered);
    length += part;
  }
  while (lowered.inputs.size() < kInputsOfACall) put_part(lowered.inputs[0], 0, lowered);
  const Joined joined = joined_of(done.shape, view, static_cast<int64_t>(axis));
  put_nhwc(joined.extent, lowered.dims);
  lowered.dims["axis"] = joined.axis;
  lowered.output = done.inputs == done.of.size() ? 0 : kTemporary;
  ++done.calls;
  return lowered;
}

// The output is that input.
Lowering lower_single(const OpCall& call, size_t input, View preferred) {
  const View view = usable_view(call.shape(input), preferred);
  if (!call.inputs[input].value) {
    Lowering lowering = lower_alias(view, view);
    lowering.source.input = static_cast<int>(input);
    return lowering;
  }
  auto copy = change_view(call.shape(input), view, view);
  if (!copy) return host_only(kTooManyAxes);
  copy->inputs[0].input = static_cast<int>(input);
  return kernel_call(std::move(*copy));
}

Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  Progress done;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (elements_of(call.shape(i)) > 0) done.of.push_back(i);
  }
  if (done.of.size() == 1) return lower_single(call, done.of[0], preferred);
  done.shape = call.shape(0);
  const auto rank = static_cast<int64_t>(done.shape.size());
  const auto axis = normal_axis(call.node.int_attr("axis", 1), rank);
  if (!axis) return host_only(axis.error().message);
  const auto at = static_cast<size_t>(*axis);
  done.shape[at] = 0;
  const View view = usable_view(done.shape, preferred);
  std::vector<LoweredCall> calls;
  while (done.inputs < done.of.size()) calls.push_back(next_call(call, at, view, done));
  return kernel_calls(std::move(calls));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Concat"},
    .inputs = "T+",
    .types = "fiub",
    .attributes = "axis:i",
    .moves_elements = true,
    .fills_floats = true,
    .lowers_empty = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_concat
