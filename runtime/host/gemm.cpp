#include "runtime/host/gemm.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/host/dot.h"
#include "runtime/host/matrix.h"
#include "runtime/host/parallel.h"
#include "runtime/host/product.h"

namespace clvet {
namespace {

// Rows of the left matrix up to which a transposed right one is read as rows of dot products.
constexpr int64_t kDotRows = 3;
constexpr int64_t kDotGrain = 100'000;

bool by_dots(const MatrixView& a, const MatrixView& b) {
  return a.rows > 0 && a.rows <= kDotRows && b.transposed && !a.transposed && a.columns > 0;
}

void dots(const MatrixView& a, const MatrixView& b, float* c, int64_t stride, bool accumulate) {
  const int64_t depth = a.columns;
  const int64_t grain = std::max<int64_t>(1, kDotGrain / (depth * a.rows));
  parallel_for(b.columns, grain, [&](int64_t first, int64_t end) {
    for (int64_t j = first; j < end; ++j) {
      for (int64_t i = 0; i < a.rows; ++i) {
        const float dot =
            dot_f32(a.data + i * a.stride, b.data + j * b.stride, static_cast<size_t>(depth));
        c[i * stride + j] = accumulate ? c[i * stride + j] + dot : dot;
      }
    }
  });
}

}  // namespace

void gemm(const MatrixView& a, const MatrixView& b, float* c, int64_t stride, bool accumulate) {
  if (by_dots(a, b)) return dots(a, b, c, stride, accumulate);
  const StoredMatrix right(b);
  Product product{.a = a, .b = &right, .columns = b.columns, .c = c, .stride = stride};
  product.accumulate = accumulate;
  multiply({&product, 1});
}

}  // namespace clvet
