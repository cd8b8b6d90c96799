#include "runtime/ops/support/window_matrix.h"

#include <algorithm>
#include <cstdint>

#include "runtime/host/lanes.h"
#include "runtime/host/width.h"
#include "runtime/ops/support/window.h"

namespace clvet {
namespace {

// Neighbouring positions of one row of the output.
struct Run {
  int64_t z, y, x, count;
};

// A tap of a plane, and the one that follows it in the matrix.
struct Tap {
  const float* plane;
  int64_t z, y, x;
  CLVET_INLINE void advance(const SlidingWindow& w) {
    if (++x < w.kernel[2]) return;
    x = 0;
    if (++y < w.kernel[1]) return;
    y = 0;
    if (++z < w.kernel[0]) return;
    z = 0;
    plane += w.in[0] * w.in[1] * w.in[2];
  }
};

struct PackRun {
  template <int kBytes>
  static CLVET_INLINE void run(const SlidingWindow* window, const Run* run, Tap tap, int64_t depth,
                               float* to, int64_t stride) {
    const SlidingWindow& w = *window;
    const int64_t z = run->z * w.stride[0] - w.pad_begin[0];
    const int64_t y = run->y * w.stride[1] - w.pad_begin[1];
    const int64_t x = run->x * w.stride[2] - w.pad_begin[2];
    for (int64_t d = 0; d < depth; ++d, to += stride, tap.advance(w)) {
      const int64_t iz = z + tap.z * w.dilation[0], iy = y + tap.y * w.dilation[1];
      if (iz < 0 || iz >= w.in[0] || iy < 0 || iy >= w.in[1]) {
        clear(run->count, to);
        continue;
      }
      const float* row = tap.plane + (iz * w.in[1] + iy) * w.in[2];
      take<kBytes>(row, w.in[2], x + tap.x * w.dilation[2], w.stride[2], run->count, to);
    }
  }

 private:
  static CLVET_INLINE void clear(int64_t count, float* to) {
    for (int64_t i = 0; i < count; ++i) to[i] = 0;
  }

  // row[first + i * stride] for i < count; 0 beyond the row's ends.
  template <int kBytes>
  static CLVET_INLINE void take(const float* row, int64_t width, int64_t first, int64_t stride,
                                int64_t count, float* to) {
    using L = Lanes<kBytes>;
    int64_t i = 0;
    for (; i < count && first < 0; ++i, first += stride) to[i] = 0;
    if (stride == 1) {
      const int64_t inside = std::clamp<int64_t>(width - first, 0, count - i);
      L::copy(row + first, inside, to + i);
      return clear(count - i - inside, to + i + inside);
    }
    if (stride == 2) {
      typename L::Float even;
      for (; i + L::kCount <= count && first + 2 * L::kCount <= width;
           i += L::kCount, first += 2 * L::kCount) {
        L::load_even(row + first, even);
        L::store(even, to + i);
      }
    }
    for (; i < count && first < width; ++i, first += stride) to[i] = row[first];
    clear(count - i, to + i);
  }
};

}  // namespace

void WindowMatrix::pack(int64_t k, int64_t depth, int64_t column, int64_t count, float* to,
                        int64_t stride) const {
  const auto& out = window_.out;
  const auto& kernel = window_.kernel;
  const int64_t tap = k % window_.taps();
  const Tap first{image_ + k / window_.taps() * window_.in_size(), tap / (kernel[2] * kernel[1]),
                  tap / kernel[2] % kernel[1], tap % kernel[2]};
  Run run{column / (out[2] * out[1]), column / out[2] % out[1], column % out[2], 0};
  for (int64_t i = 0; i < count; i += run.count) {
    run.count = std::min(count - i, out[2] - run.x);
    at_width<PackRun>(&window_, static_cast<const Run*>(&run), first, depth, to + i, stride);
    run.x = 0;
    if (++run.y == out[1]) run.y = 0, ++run.z;
  }
}

}  // namespace clvet
