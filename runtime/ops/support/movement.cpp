#include "runtime/ops/support/movement.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/op_def.h"
#include "runtime/ops/contract/view.h"
#include "runtime/ops/support/lowering.h"

namespace clvet {
namespace {

struct Stretch {
  int64_t extent;
  Step from;
};

// Leaves out extents of 1 and joins neighbours that are one longer axis.
std::vector<Stretch> joined(const std::vector<Stretch>& axes) {
  std::vector<Stretch> out;
  for (const Stretch& axis : axes) {
    if (axis.extent == 1) continue;
    if (!out.empty() && out.back().from == axis.from * axis.extent) {
      out.back() = {out.back().extent * axis.extent, axis.from};
    } else {
      out.push_back(axis);
    }
  }
  return out;
}

// Writes `axes` to dims named by a letter and a number, padded in front with extents of 1.
bool put_axes(const std::vector<Stretch>& axes, size_t count, const std::string& extent,
              const std::string& rows, const std::string& channels, Dims& dims) {
  if (axes.size() > count) return false;
  for (size_t i = 0; i < count; ++i) {
    const std::string digit = std::to_string(i);
    const size_t padding = count - axes.size();
    const Stretch axis = i < padding ? Stretch{1, {}} : axes[i - padding];
    dims[extent + digit] = axis.extent;
    dims[rows + digit] = axis.from.rows;
    dims[channels + digit] = axis.from.channels;
  }
  return true;
}

// Both shapes as products of the same stretches.
struct Shared {
  int64_t extent;
  size_t from, to;  // axes
};
std::optional<std::vector<Shared>> shared_stretches(const Shape& from, const Shape& to) {
  std::vector<Shared> shared;
  size_t i = 0, j = 0;
  int64_t a = 1, b = 1;
  while (true) {
    while (a == 1 && i < from.size()) a = from[i++];
    while (b == 1 && j < to.size()) b = to[j++];
    if (a == 1 || b == 1) break;
    const int64_t extent = std::min(a, b);
    if (a % extent != 0 || b % extent != 0) return std::nullopt;
    shared.push_back({extent, i - 1, j - 1});
    a /= extent;
    b /= extent;
  }
  return a == b ? std::optional(shared) : std::nullopt;
}

// The axes of the output in the order in which `device` runs through their stretches; nullopt where
// it comes back to one, or takes the stretches of one in another order than their own.
std::optional<std::vector<int64_t>> axes_in_turn(const std::vector<Shared>& device) {
  std::vector<int64_t> order;
  for (size_t k = 0; k < device.size(); ++k) {
    const auto axis = static_cast<int64_t>(device[k].to);
    if (!order.empty() && order.back() == axis) {
      if (device[k].from < device[k - 1].from) return std::nullopt;
      continue;
    }
    if (std::find(order.begin(), order.end(), axis) != order.end()) return std::nullopt;
    order.push_back(axis);
  }
  return order;
}

// Sees to it that c holds the same stretches before, the last `count` of `device`, and after; false
// where it cannot.
bool keep_channels(const std::vector<Shared>& device, size_t count, const Shape& to,
                   std::vector<int64_t>& order) {
  if (count > 0) {
    const size_t last = device.back().to;
    return count ==
           static_cast<size_t>(std::count_if(device.begin(), device.end(),
                                             [&](const Shared& part) { return part.to == last; }));
  }
  // c has extent 1: the output needs an axis of extent 1 to be c.
  const auto one = std::find(to.begin(), to.end(), int64_t{1});
  if (one == to.end()) return false;
  order.push_back(one - to.begin());
  return true;
}

// The order of the output's axes under which its elements lie where those of the input lie under
// `view`; nullopt where there is none.
std::optional<std::vector<int64_t>> kept_order(const Shape& from, const Shape& to,
                                               const std::vector<Shared>& shared,
                                               const View& view) {
  if (from.empty() || to.empty()) return std::nullopt;
  std::vector<Shared> device;
  size_t in_last = 0;
  for (const int64_t axis : view.order(from.size())) {
    const size_t before = device.size();
    std::copy_if(shared.begin(), shared.end(), std::back_inserter(device),
                 [&](const Shared& part) { return part.from == static_cast<size_t>(axis); });
    in_last = device.size() - before;
  }
  auto order = axes_in_turn(device);
  if (!order || !keep_channels(device, in_last, to, *order)) return std::nullopt;
  // The other axes of extent 1 go in front.
  for (size_t axis = to.size(); axis-- > 0;) {
    if (std::find(order->begin(), order->end(), static_cast<int64_t>(axis)) == order->end()) {
      order->insert(order->begin(), static_cast<int64_t>(axis));
    }
  }
  return order;
}

// The axes of a move in the order of the output's, those of c apart.
struct Stretches {
  std::vector<Stretch> rows, channels;
};
Stretches stretches_of(std::span<const MovedAxis> axes, const std::vector<int64_t>& order) {
  Stretches out;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const MovedAxis& axis : axes) {
      if (axis.axis != static_cast<size_t>(order[i])) continue;
      (i + 1 == order.size() ? out.channels : out.rows).push_back({axis.extent, axis.from});
    }
  }
  return out;
}

}  // namespace

std::optional<LoweredCall> move_call(const Nhwc& x, const Shape& shape, const View& view,
                                     std::span<const MovedAxis> axes, Step start) {
  const auto y = view_of(shape, view);
  if (!y) return std::nullopt;
  const auto [rows, channels] = stretches_of(axes, view.order(shape.size()));
  LoweredCall call;
  call.op = "move";
  put_nhwc(x, call.dims);
  call.dims.insert({{"ON", y->n}, {"OH", y->h}, {"OW", y->w}, {"OC", y->c}});
  call.dims["row0"] = start.rows;
  call.dims["channel0"] = start.channels;
  if (!put_axes(joined(rows), 4, "E", "R", "Q", call.dims) ||
      !put_axes(joined(channels), 3, "F", "RF", "QF", call.dims)) {
    return std::nullopt;
  }
  call.inputs = {{"x", 0, View::kChannelsLast}};
  call.view = view;
  return call;
}

std::optional<LoweredCall> change_view(const Shape& shape, const View& from, const View& to) {
  const auto x = view_of(shape, from);
  if (!x) return std::nullopt;
  const std::vector<Step> steps = steps_of(shape, from);
  std::vector<MovedAxis> axes;
  for (size_t i = 0; i < shape.size(); ++i) axes.push_back({shape[i], steps[i], i});
  auto call = move_call(*x, shape, to, axes, {});
  if (call) call->inputs[0].view = from;
  return call;
}

std::optional<LoweredCall> reshape_call(const Shape& from, const View& view, const Shape& to) {
  const auto shared = shared_stretches(from, to);
  const auto x = view_of(from, view);
  if (!shared || !x) return std::nullopt;
  const std::vector<Step> steps = steps_of(from, view);
  std::vector<MovedAxis> axes(shared->size());
  int64_t inner = 1;
  for (size_t i = shared->size(); i-- > 0;) {
    const Shared& part = (*shared)[i];
    if (i + 1 < shared->size() && (*shared)[i + 1].from != part.from) inner = 1;
    axes[i] = {part.extent, steps[part.from] * inner, part.to};
    inner *= part.extent;
  }
  auto lowered = move_call(*x, to, View::kChannelsLast, axes, {});
  if (lowered) lowered->inputs[0].view = view;
  return lowered;
}

namespace {

// Shapes whose axes do not split into the same stretches: by way of a single row.
Lowering lower_by_row(const Shape& from, View preferred, const Shape& to) {
  const Shape row{elements_of(from)};
  auto first = reshape_call(from, usable_view(from, preferred), row);
  auto second = reshape_call(row, View::kChannelsLast, to);
  if (!first || !second) return host_only(kTooManyAxes);
  first->output = kTemporary;
  first->temporary = row;
  second->inputs[0].input = -1;
  return kernel_calls({std::move(*first), std::move(*second)});
}

}  // namespace

Lowering lower_reshape(const OpCall& call, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  const auto types = call.node.def->infer(call);
  if (!types) return host_only("its shape is computed at run time");
  const Shape &from = call.shape(0), &to = (*types)[0].shape;
  const auto shared = shared_stretches(from, to);
  if (!shared) return lower_by_row(from, preferred, to);
  if (from.empty() || preferred.order(from.size()).size() != from.size())
    preferred = View::kChannelsLast;
  const auto order = kept_order(from, to, *shared, preferred);
  const View kept = order ? View::of(*order) : View::kChannelsLast;
  if (order && !kept.order(to.size()).empty()) return lower_alias(preferred, kept);
  auto lowered = reshape_call(from, preferred, to);
  return lowered ? kernel_call(std::move(*lowered)) : host_only(kTooManyAxes);
}

Status reshape_on_host(const OpCall& call, std::vector<Tensor>& outputs) {
  outputs[0] = call.tensor(0).reshaped(outputs[0].shape());
  return {};
}

Lowering lower_transpose(const OpCall& call, const std::vector<int64_t>& perm, View preferred) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  if (perm.size() > kMaxViewRank) return host_only("a tensor has too many axes");
  if (preferred.order(perm.size()).size() != perm.size()) preferred = View::kChannelsLast;
  std::vector<int64_t> order;
  for (const int64_t axis : preferred.order(perm.size())) {
    order.push_back(std::find(perm.begin(), perm.end(), axis) - perm.begin());
  }
  return lower_alias(preferred, View::of(order));
}

std::optional<LoweredCall> range_call(const OpCall& call, const View& view, const Shape& shape,
                                      std::span<const AxisRange> ranges, int output) {
  const auto x = view_of(call.shape(0), view);
  if (!x) return std::nullopt;
  const std::vector<Step> steps = steps_of(call.shape(0), view);
  std::vector<MovedAxis> axes;
  Step start;
  for (size_t i = 0; i < shape.size(); ++i) {
    axes.push_back({shape[i], steps[i] * ranges[i].step, i});
    start.rows += steps[i].rows * ranges[i].start;
    start.channels += steps[i].channels * ranges[i].start;
  }
  auto lowered = move_call(*x, shape, view, axes, start);
  if (!lowered) return std::nullopt;
  lowered->inputs[0].view = view;
  lowered->output = output;
  return lowered;
}

Lowering lower_range(const OpCall& call, View preferred, const Shape& shape,
                     std::span<const AxisRange> ranges) {
  if (!on_device(call.type(0).dtype)) return host_only("the tensor is not of a float type");
  auto lowered = range_call(call, usable_view(call.shape(0), preferred), shape, ranges, 0);
  return lowered ? kernel_call(std::move(*lowered)) : host_only(kTooManyAxes);
}

}  // namespace clvet
