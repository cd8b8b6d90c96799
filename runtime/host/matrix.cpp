#include "runtime/host/matrix.h"

#include <algorithm>
#include <cstdint>

namespace clvet {

const float* RightMatrix::lies(int64_t&) const { return nullptr; }

void StoredMatrix::pack(int64_t k, int64_t depth, int64_t column, int64_t count, float* to,
                        int64_t stride) const {
  const MatrixView& m = view_;
  if (!m.transposed) {
    for (int64_t d = 0; d < depth; ++d)
      std::copy_n(m.data + (k + d) * m.stride + column, count, to + d * stride);
    return;
  }
  for (int64_t j = 0; j < count; ++j) {
    const float* from = m.data + (column + j) * m.stride + k;
    for (int64_t d = 0; d < depth; ++d) to[d * stride + j] = from[d];
  }
}

const float* StoredMatrix::lies(int64_t& stride) const {
  stride = view_.stride;
  return view_.transposed ? nullptr : view_.data;
}

}  // namespace clvet
