#include "runtime/ops/support/window_fold.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/ops/support/window.h"

namespace clvet {

Extent3 padded_size(const SlidingWindow& w) {
  Extent3 size{1, 1, 1};
  for (size_t i = 0; i < 3; ++i) {
    const int64_t reach = (w.out[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
    size[i] = std::max(reach, w.pad_begin[i] + w.in[i]);
  }
  size[2] += kRowSlack;
  return size;
}

FoldPass window_pass(const SlidingWindow& w, const Extent3& padded) {
  FoldPass pass{.row = padded[2], .slice = padded[1] * padded[2], .out = w.out, .stride = w.stride};
  pass.out_row = w.out[2];
  for (int64_t tap = 0; tap < w.taps(); ++tap) {
    const int64_t kx = tap % w.kernel[2], ky = tap / w.kernel[2] % w.kernel[1],
                  kz = tap / (w.kernel[2] * w.kernel[1]);
    pass.taps.push_back(kz * w.dilation[0] * pass.slice + ky * w.dilation[1] * pass.row +
                        kx * w.dilation[2]);
  }
  return pass;
}

}  // namespace clvet
