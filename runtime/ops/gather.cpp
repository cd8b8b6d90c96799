// Gather along an axis.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
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
      return fail(ErrorCode::kInvalidArgument, "Gather's index {} is outside {} along axis {}",
                  index, to_string(data.shape()), axis);
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

// nullopt where the distances between neighbours differ.
std::optional<int64_t> even_distance(const std::vector<int64_t>& indices) {
  const int64_t distance = indices.size() > 1 ? indices[1] - indices[0] : 0;
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] - indices[i - 1] != distance) return std::nullopt;
  }
  return distance;
}

struct SlicedAxes {
  Shape shape;
  std::vector<MovedAxis> axes;
};

// The data's axes, with those of indices `distance` apart in place of axis `at`.
SlicedAxes sliced_axes(const OpCall& call, const std::vector<Step>& steps, size_t at,
                       int64_t distance) {
  const Shape& data = call.shape(0);
  SlicedAxes out;
  for (size_t i = 0; i < data.size(); ++i) {
    if (i != at) {
      out.axes.push_back({data[i], steps[i], out.shape.size()});
      out.shape.push_back(data[i]);
      continue;
    }
    int64_t inner = elements_of(call.shape(1));
    for (const int64_t extent : call.shape(1)) {
      inner /= extent;
      out.axes.push_back({extent, steps[i] * (distance * inner), out.shape.size()});
      out.shape.push_back(extent);
    }
  }
  return out;
}

// Constant indices at even distances are a slice; nullopt for others.
std::optional<Lowering> lower_slice(const OpCall& call, size_t at, View preferred) {
  const Shape& data = call.shape(0);
  auto indices = call.integers(1);
  if (!indices) return std::nullopt;
  for (int64_t& index : *indices) {
    if (index < 0) index += data[at];
    if (index < 0 || index >= data[at]) return host_only("an index is out of range");
  }
  const auto distance = even_distance(*indices);
  if (!distance) return std::nullopt;
  const View view = usable_view(data, preferred);
  const std::vector<Step> steps = steps_of(data, view);
  const auto [shape, axes] = sliced_axes(call, steps, at, *distance);
  const Step start = steps[at] * indices->front();
  const View out = view_of(shape, preferred) ? preferred : View::kChannelsLast;
  auto lowered = move_call(*view_of(data, view), shape, out, axes, start);
  if (!lowered) return std::nullopt;
  lowered->inputs[0].view = view;
  return kernel_call(std::move(*lowered));
}

// The call for data of `shape`, whose axis `at` is not c under `view`.
LoweredCall rows_call(const OpCall& call, const Shape& shape, size_t at, const View& view) {
  const Nhwc x = *view_of(shape, view);
  int64_t outer = 1, inner = 1;
  bool before = true;
  const std::vector<int64_t> order = view.order(shape.size());
  for (size_t i = 0; i + 1 < order.size(); ++i) {
    const auto axis = static_cast<size_t>(order[i]);
    if (axis == at) {
      before = false;
    } else {
      (before ? outer : inner) *= shape[axis];
    }
  }
  LoweredCall lowered;
  lowered.op = "gather";
  lowered.dims = {{"O", outer}, {"E", shape[at]}, {"I", elements_of(call.shape(1))},
                  {"R", inner}, {"C", x.c},       {"W", x.w}};
  lowered.inputs = {{"x", 0, view, shape.size()}, {"index", 1, View::kChannelsLast}};
  return lowered;
}

// The output's view: the order of the data's axes with those of the indices in place of `at`.
View output_view(const View& view, size_t rank, size_t at, size_t index_axes) {
  std::vector<int64_t> order;
  for (const int64_t axis : view.order(rank)) {
    const bool behind = axis > static_cast<int64_t>(at);
    const auto shift = behind ? static_cast<int64_t>(index_axes) - 1 : 0;
    const size_t times = axis == static_cast<int64_t>(at) ? index_axes : 1;
    for (size_t i = 0; i < times; ++i) order.push_back(axis + shift + static_cast<int64_t>(i));
  }
  return View::of(order);
}

// Rows of the only axis there is: as rows of one value, and those as the output wants them.
Lowering lower_values(const OpCall& call) {
  const View column = View::with_channels(0, 2);
  LoweredCall rows = rows_call(call, {1, call.shape(0)[0]}, 1, column);
  const int64_t count = elements_of(call.shape(1));
  rows.dims["OW"] = count;
  rows.output = kTemporary;
  rows.temporary = {count, 1};
  rows.view = View::kChannelsLast;
  auto out = reshape_call(rows.temporary, View::kChannelsLast, call.shape(1));
  if (!out) return host_only(kTooManyAxes);
  out->inputs[0].input = -1;
  return kernel_calls({std::move(rows), std::move(*out)});
}

// Indices at uneven distances, or known at run time alone.
Lowering lower_rows(const OpCall& call, size_t at, View preferred) {
  const Shape& data = call.shape(0);
  const size_t rank = data.size();
  if (rank == 1) return lower_values(call);
  View view = usable_view(data, preferred);
  if (view.order(rank).back() == static_cast<int64_t>(at)) {
    view = at + 1 < rank ? View::kChannelsLast
                         : View::with_channels(static_cast<int64_t>(rank) - 2, rank);
  }
  LoweredCall lowered = rows_call(call, data, at, view);
  Shape out(data.begin(), data.begin() + static_cast<ptrdiff_t>(at));
  out.insert(out.end(), call.shape(1).begin(), call.shape(1).end());
  out.insert(out.end(), data.begin() + static_cast<ptrdiff_t>(at) + 1, data.end());
  if (out.size() > kMaxViewRank) return host_only("a tensor has too many axes");
  lowered.view = output_view(view, rank, at, call.shape(1).size());
  lowered.dims["OW"] = view_of(out, lowered.view)->w;
  return kernel_call(std::move(lowered));
}

Lowering lower(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const Shape& data = call.shape(0);
  const auto axis = normal_axis(call.node.int_attr("axis", 0), static_cast<int64_t>(data.size()));
  if (!axis) return host_only(axis.error().message);
  if (data.size() > kMaxViewRank) return host_only("a tensor has too many axes");
  const auto at = static_cast<size_t>(*axis);
  if (auto slice = lower_slice(call, at, preferred)) return std::move(*slice);
  return lower_rows(call, at, preferred);
}

}  // namespace

extern const OpDef def;
const OpDef def{
    .names = {"Gather"},
    .inputs = "* i",
    .row_numbers = 1,
    .attributes = "axis:i",
    .moves_elements = true,
    .infer = infer,
    .host = host,
    .lower = lower,
};

}  // namespace clvet::op_gather
