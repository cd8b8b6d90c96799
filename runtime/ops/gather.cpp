// Gather along an axis.
#include "runtime/ops/support/lowering.h"
#include "runtime/ops/support/movement.h"
#include "runtime/ops/support/shapes.h"

namespace clvet::op_gather {
namespace {

Result<Types> infer(const OpCall& call) {
  const Shape &data = call.shape(0), &indices = call.shape(1);
  CLVET_ASSIGN_OR_RETURN(const int64_t axis, normal_axis(call.node.int_attr("axis", 0),
                                                         static_cast<int64_t>(data.size())));
  TensorType out{call.type(0).dtype, Shape(data.begin(), data.begin() + axis)};
  out.shape.insert(out.shape.end(), indices.begin(), indices.end());
  out.shape.insert(out.shape.end(), data.begin() + axis + 1, data.end());
  return Types{out};
}

Status host(const OpCall& call, std::vector<Tensor>& outputs) {
  const Tensor& data = call.tensor(0);
  CLVET_ASSIGN_OR_RETURN(const int64_t axis,
                         normal_axis(call.node.int_attr("axis", 0), data.rank()));
  CLVET_ASSIGN_OR_RETURN(std::vector<int64_t> indices, call.integers(1));
  const int64_t extent = data.dim(axis);
  for (int64_t& index : indices) {
    if (index < -extent || index >= extent) {
      return fail(ErrorCode::kInvalidArgument, "Gather of index {} from {} along axis {}", index,
                  to_string(data.shape()), axis);
    }
    if (index < 0) index += extent;
  }
  const int64_t outer = elements_of(std::span(data.shape()).first(axis));
  const size_t block = size_of(data.dtype()) *
                       static_cast<size_t>(elements_of(std::span(data.shape()).subspan(axis + 1)));
  std::byte* to = outputs[0].raw();
  for (int64_t o = 0; o < outer && block; ++o) {
    for (const int64_t index : indices) {
      std::memcpy(to, data.raw() + static_cast<size_t>(o * extent + index) * block, block);
      to += block;
    }
  }
  return {};
}

// Indices that are constant and evenly spaced are a slice.
Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("not a float tensor");
  const Shape& data = call.shape(0);
  auto indices = call.integers(1);
  const auto axis = normal_axis(call.node.int_attr("axis", 0), static_cast<int64_t>(data.size()));
  if (!indices || !axis) return host_only("indices computed at run time");
  const auto at = static_cast<size_t>(*axis);
  for (int64_t& index : *indices) {
    if (index < 0) index += data[at];
    if (index < 0 || index >= data[at]) return host_only("an index out of range");
  }
  const int64_t step = indices->size() > 1 ? (*indices)[1] - (*indices)[0] : 0;
  for (size_t i = 1; i < indices->size(); ++i) {
    if ((*indices)[i] - (*indices)[i - 1] != step) return host_only("indices at uneven distances");
  }
  const View view = usable_view(data, preferred);
  const std::vector<Step> steps = steps_of(data, view);
  std::vector<MovedAxis> axes;
  Shape shape;
  for (size_t i = 0; i < data.size(); ++i) {
    if (i != at) {
      axes.push_back({data[i], steps[i], shape.size()});
      shape.push_back(data[i]);
      continue;
    }
    int64_t inner = elements_of(call.shape(1));
    for (const int64_t extent : call.shape(1)) {
      inner /= extent;
      axes.push_back({extent, steps[i] * (step * inner), shape.size()});
      shape.push_back(extent);
    }
  }
  const Step start = steps[at] * indices->front();
  const View out = view_of(shape, preferred) ? preferred : View::kChannelsLast;
  auto lowered = move_call(*view_of(data, view), shape, out, axes, start);
  if (!lowered) return host_only(kTooManyAxes);
  lowered->inputs[0].view = view;
  return kernel_call(std::move(*lowered));
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Gather"},
    .inputs = "* i",
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_gather
