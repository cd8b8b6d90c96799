#include "runtime/host/matrix.h"

#include <cstdint>

#include "runtime/host/lanes.h"
#include "runtime/host/width.h"

namespace clvet {
namespace {

struct CopyRows {
  template <int kBytes>
  static CLVET_INLINE void run(const float* from, int64_t from_stride, int64_t rows, int64_t count,
                               float* to, int64_t stride) {
    for (int64_t i = 0; i < rows; ++i, from += from_stride, to += stride)
      Lanes<kBytes>::copy(from, count, to);
  }
};

}  // namespace

const float* RightMatrix::lies(int64_t&) const { return nullptr; }

void StoredMatrix::pack(int64_t k, int64_t depth, int64_t column, int64_t count, float* to,
                        int64_t stride) const {
  const MatrixView& m = view_;
  if (!m.transposed) {
    at_width<CopyRows>(m.data + k * m.stride + column, m.stride, depth, count, to, stride);
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
