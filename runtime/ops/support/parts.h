// Loops over several operands of one index space, in parts on several threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/host/parallel.h"

namespace clvet {

// The same index space with as few axes as its operands allow, at least one; the strides become
// those of it. No extent is 0.
template <size_t N>
Shape joined_axes(const Shape& shape, std::vector<int64_t> (&strides)[N]) {
  Shape joined;
  std::vector<int64_t> kept[N];
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 1) continue;
    bool joins = !joined.empty();
    for (size_t k = 0; k < N && joins; ++k)
      joins = kept[k].back() == strides[k][axis] * shape[axis];
    if (!joins) joined.push_back(1);
    joined.back() *= shape[axis];
    for (size_t k = 0; k < N; ++k) {
      if (!joins) kept[k].push_back(0);
      kept[k].back() = strides[k][axis];
    }
  }
  if (joined.empty()) joined.push_back(1);
  for (size_t k = 0; k < N; ++k) {
    if (kept[k].empty()) kept[k].push_back(0);
    strides[k] = kept[k];
  }
  return joined;
}

// Calls part(offset of each operand, index of the first element, count) for parts of rows that make
// up the space, in no order; at least `grain` elements a thread.
template <size_t N, class Part>
void for_each_part(const Shape& shape, const std::vector<int64_t> (&strides)[N], int64_t grain,
                   Part&& part) {
  const int64_t row = shape.back();
  if (elements_of(shape) == 0) return;
  parallel_for(elements_of(shape), grain, [&](int64_t first, int64_t end) {
    // Where `first` is, the last axis apart.
    std::vector<int64_t> index(shape.size());
    int64_t at[N] = {};
    int64_t left = first / row;
    for (size_t axis = shape.size() - 1; axis-- > 0; left /= shape[axis]) {
      index[axis] = left % shape[axis];
      for (size_t k = 0; k < N; ++k) at[k] += index[axis] * strides[k][axis];
    }
    for (int64_t column = first % row; first < end; column = 0) {
      const int64_t count = std::min(end - first, row - column);
      int64_t from[N];
      for (size_t k = 0; k < N; ++k) from[k] = at[k] + column * strides[k].back();
      part(from, first, count);
      first += count;
      for (size_t axis = shape.size() - 1; axis-- > 0;) {
        for (size_t k = 0; k < N; ++k) at[k] += strides[k][axis];
        if (++index[axis] < shape[axis]) break;
        for (size_t k = 0; k < N; ++k) at[k] -= strides[k][axis] * shape[axis];
        index[axis] = 0;
      }
    }
  });
}

}  // namespace clvet
