// Copies for operators that move elements: Transpose, Slice, Expand.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/graph/tensor.h"

namespace clvet {

// out[i...] = in[offset + sum i*stride].
void strided_copy(const Tensor& in, int64_t offset, const std::vector<int64_t>& in_strides,
                  Tensor& out);

}  // namespace clvet
