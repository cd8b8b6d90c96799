#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/contract/view.h"

namespace clvet {
namespace {

std::vector<int64_t> identity(size_t rank) {
  std::vector<int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

// Axes of extent 1 lie anywhere.
std::vector<int64_t> real_axes(const Shape& shape, std::vector<int64_t> order) {
  std::erase_if(order, [&](int64_t axis) { return shape[static_cast<size_t>(axis)] == 1; });
  return order;
}

// Walks all elements in device order: visit(offset in the row-major tensor, index on the device).
template <class Visit>
void walk(const Shape& shape, const View& view, Visit&& visit) {
  const std::vector<int64_t> order = view.order(shape.size());
  const std::vector<int64_t> own = strides_of(shape);
  Shape extents;
  std::vector<int64_t> strides[1];
  for (const int64_t axis : order) {
    extents.push_back(shape[static_cast<size_t>(axis)]);
    strides[0].push_back(own[static_cast<size_t>(axis)]);
  }
  const int64_t length = extents.empty() ? 1 : extents.back();
  const int64_t stride = extents.empty() ? 0 : strides[0].back();
  int64_t device = 0;
  for_each_row(extents, strides, [&](const int64_t(&at)[1]) {
    for (int64_t i = 0; i < length; ++i) visit(at[0] + i * stride, device++);
  });
}

}  // namespace

const View View::kChannelsFirst(View::Kind::kChannelsFirst);
const View View::kChannelsLast(View::Kind::kChannelsLast);

View View::of(const std::vector<int64_t>& order) {
  if (order == identity(order.size())) return kChannelsLast;
  if (order.size() <= 4 && order == kChannelsFirst.order(order.size())) return kChannelsFirst;
  View view(Kind::kOrder);
  view.rank_ = static_cast<int8_t>(order.size());
  for (size_t i = 0; i < std::min(order.size(), kMaxViewRank); ++i) {
    view.order_[i] = static_cast<int8_t>(order[i]);
  }
  return view;
}

View View::with_channels(int64_t axis, size_t rank) {
  std::vector<int64_t> order = identity(rank);
  order.erase(order.begin() + axis);
  order.push_back(axis);
  return of(order);
}

std::vector<int64_t> View::order(size_t rank) const {
  if (kind_ == Kind::kChannelsLast) return identity(rank);
  if (kind_ == Kind::kOrder) {
    if (static_cast<size_t>(rank_) != rank || rank > kMaxViewRank) return {};
    return {order_.begin(), order_.begin() + rank_};
  }
  if (rank < 2 || rank > 4) return {};
  std::vector<int64_t> order = identity(rank);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

std::optional<Nhwc> view_of(const Shape& shape, const View& view) {
  const std::vector<int64_t> order = view.order(shape.size());
  const bool suits = !shape.empty() || view == View::kChannelsLast;
  if (!suits || order.size() != shape.size()) return std::nullopt;
  Nhwc out;
  int64_t* const places[] = {&out.c, &out.w, &out.h};
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t extent = shape[static_cast<size_t>(order[order.size() - 1 - i])];
    *(i < 3 ? places[i] : &out.n) *= extent;
  }
  if (view == View::kChannelsFirst && shape.size() <= 3) {
    return Nhwc{shape[0], 1, shape.size() == 3 ? shape[2] : 1, shape[1]};
  }
  return out;
}

Shape padded_shape(Shape shape, size_t rank) {
  if (shape.size() < rank) shape.insert(shape.begin(), rank - shape.size(), 1);
  return shape;
}

View padded_view(const View& view, size_t from, size_t rank) {
  if (from >= rank) return view;
  std::vector<int64_t> order = identity(rank - from);
  for (const int64_t axis : view.order(from)) {
    order.push_back(axis + static_cast<int64_t>(rank - from));
  }
  return View::of(order);
}

bool same_order(const Shape& shape, const View& a, const View& b) {
  const auto left = a.order(shape.size()), right = b.order(shape.size());
  if (left.size() != shape.size() || right.size() != shape.size()) return false;
  if (shape.empty()) return true;
  const auto last = [&](const std::vector<int64_t>& order) {
    const int64_t axis = order.back();
    return shape[static_cast<size_t>(axis)] == 1 ? int64_t{-1} : axis;
  };
  return last(left) == last(right) && real_axes(shape, left) == real_axes(shape, right);
}

std::vector<Step> steps_of(const Shape& shape, const View& view) {
  const std::vector<int64_t> order = view.order(shape.size());
  std::vector<Step> steps(shape.size());
  int64_t rows = 1;
  for (size_t i = order.size(); i-- > 0;) {
    const auto axis = static_cast<size_t>(order[i]);
    if (i + 1 == order.size()) {
      steps[axis] = {0, 1};
    } else {
      steps[axis] = {rows, 0};
      rows *= shape[axis];
    }
  }
  return steps;
}

void to_device_order(const float* values, const Shape& shape, const View& view, float* out) {
  walk(shape, view, [&](int64_t logical, int64_t device) { out[device] = values[logical]; });
}

void from_device_order(const float* device, const Shape& shape, const View& view, float* out) {
  walk(shape, view, [&](int64_t logical, int64_t at) { out[logical] = device[at]; });
}

}  // namespace clvet
