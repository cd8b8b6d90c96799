// Tensors of attention heads: [batch, heads, length, size], or [batch, length, heads * size].
#pragma once

#include <cstdint>

#include "runtime/graph/tensor.h"

namespace clvet {

struct Heads {
  int64_t batch = 0, heads = 0, length = 0, size = 0;
  bool flat = false;  // of rank 3

  // Where a row of `size` elements begins, and how far it is to the next of the same head.
  int64_t at(int64_t b, int64_t head, int64_t row) const {
    return (flat ? (b * length + row) * heads + head : (b * heads + head) * length + row) * size;
  }
  int64_t stride() const { return flat ? heads * size : size; }
  Shape shape() const {
    return flat ? Shape{batch, length, heads * size} : Shape{batch, heads, length, size};
  }
};

// False where the shape is neither. `heads` counts for rank 3.
inline bool read_heads(const Shape& shape, int64_t heads, Heads& out) {
  if (shape.size() == 4) {
    out = {shape[0], shape[1], shape[2], shape[3], false};
    return true;
  }
  if (shape.size() != 3 || heads < 1 || shape[2] % heads != 0) return false;
  out = {shape[0], heads, shape[1], shape[2] / heads, true};
  return true;
}

}  // namespace clvet
