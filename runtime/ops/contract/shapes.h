// Shape arithmetic: axes, strides, broadcasting. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {

// -rank..rank-1 as 0..rank-1; kInvalidArgument otherwise.
Result<int64_t> normal_axis(int64_t axis, int64_t rank);
// Each normalised, sorted and without repeats, else kInvalidArgument.
Result<std::vector<int64_t>> normal_axes(std::vector<int64_t> axes, int64_t rank);
// NumPy broadcasting; kInvalidArgument where two extents clash.
Result<Shape> broadcast(const Shape& a, const Shape& b);
// Row-major strides in elements.
std::vector<int64_t> strides_of(const Shape& shape);
// Strides of `shape` read under the broadcast shape `out`: 0 along the repeated axes.
std::vector<int64_t> broadcast_strides(const Shape& shape, const Shape& out);

// Walks an index space row by row: for each combination of all axes but the last, calls
// row(offset of each operand at the row's start). All operands have `shape.size()` strides.
template <size_t N, class Row>
void for_each_row(const Shape& shape, const std::vector<int64_t> (&strides)[N], Row&& row) {
  const size_t rank = shape.size();
  for (const int64_t dim : shape) {
    if (dim == 0) return;
  }
  int64_t offsets[N] = {};
  std::vector<int64_t> index(rank, 0);
  while (true) {
    row(offsets);
    size_t axis = rank < 2 ? 0 : rank - 1;
    while (axis-- > 0) {
      for (size_t k = 0; k < N; ++k) offsets[k] += strides[k][axis];
      if (++index[axis] < shape[axis]) break;
      for (size_t k = 0; k < N; ++k) offsets[k] -= strides[k][axis] * shape[axis];
      index[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

// Copies elements of 1, 2, 4 or 8 bytes: calls fn.template operator()<T>() with an unsigned T of
// that size.
template <class Fn>
void visit_size(size_t bytes, Fn&& fn) {
  switch (bytes) {
    case 1:
      return fn.template operator()<uint8_t>();
    case 2:
      return fn.template operator()<uint16_t>();
    case 4:
      return fn.template operator()<uint32_t>();
    default:
      return fn.template operator()<uint64_t>();
  }
}

}  // namespace clvet
