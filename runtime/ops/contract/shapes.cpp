#include "runtime/ops/contract/shapes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {

Result<int64_t> normal_axis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) {
    return fail(ErrorCode::kInvalidArgument, "axis {} does not exist in a tensor of rank {}", axis,
                rank);
  }
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>> normal_axes(std::vector<int64_t> axes, int64_t rank) {
  for (int64_t& axis : axes) {
    CLVET_ASSIGN_OR_RETURN(axis, normal_axis(axis, rank));
  }
  std::sort(axes.begin(), axes.end());
  if (std::adjacent_find(axes.begin(), axes.end()) != axes.end()) {
    return fail(ErrorCode::kInvalidArgument, "an axis is named twice");
  }
  return axes;
}

Result<Shape> broadcast(const Shape& a, const Shape& b) {
  Shape out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t da = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t db = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (da != db && da != 1 && db != 1) {
      return fail(ErrorCode::kInvalidArgument, "shapes {} and {} cannot be broadcast together",
                  to_string(a), to_string(b));
    }
    out[out.size() - 1 - i] = da == 1 ? db : da;
  }
  return out;
}

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step *= shape[i];
  }
  return strides;
}

std::vector<int64_t> broadcast_strides(const Shape& shape, const Shape& out) {
  std::vector<int64_t> strides(out.size(), 0);
  const std::vector<int64_t> own = strides_of(shape);
  const size_t skip = out.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i) strides[i + skip] = shape[i] == 1 ? 0 : own[i];
  return strides;
}

}  // namespace clvet
