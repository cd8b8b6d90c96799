#include "runtime/ops/support/strided_copy.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "runtime/graph/tensor.h"
#include "runtime/ops/contract/shapes.h"
#include "runtime/ops/support/parts.h"

namespace clvet {
namespace {

// Elements that are worth waking a thread.
constexpr int64_t kGrain = 1 << 15;

}  // namespace

void strided_copy(const Tensor& in, int64_t offset, const std::vector<int64_t>& in_strides,
                  Tensor& out) {
  std::vector<int64_t> strides[1] = {in_strides};
  const Shape shape = joined_axes(out.shape(), strides);
  const int64_t step = strides[0].back();
  visit_size(size_of(in.dtype()), [&]<class T>() {
    const T* source = in.data<T>() + offset;
    T* target = out.data<T>();
    for_each_part(shape, strides, kGrain, [&](const int64_t(&at)[1], int64_t first, int64_t count) {
      const T* from = source + at[0];
      if (step == 1) {
        std::copy(from, from + count, target + first);
      } else {
        for (int64_t i = 0; i < count; ++i) target[first + i] = from[i * step];
      }
    });
  });
}

}  // namespace clvet
