#include "runtime/ops/support/max_pool.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "runtime/host/lanes.h"
#include "runtime/host/parallel.h"
#include "runtime/host/scratch.h"
#include "runtime/host/width.h"
#include "runtime/ops/support/window.h"
#include "runtime/ops/support/window_fold.h"

namespace clvet {
namespace {

constexpr float kLowest = -std::numeric_limits<float>::infinity();
// Comparisons that are worth waking a thread.
constexpr int64_t kGrain = 50'000;

struct Largest {
  template <int kBytes>
  static CLVET_INLINE void fold(float, const typename Lanes<kBytes>::Float& seen,
                                typename Lanes<kBytes>::Float& best) {
    best = seen > best ? seen : best;
    best = seen != seen ? seen : best;
  }
};

bool axis_sees(const SlidingWindow& w, size_t axis) {
  for (int64_t at = 0; at < w.out[axis]; ++at) {
    bool sees = false;
    for (int64_t k = 0; k < w.kernel[axis] && !sees; ++k) {
      const int64_t from = at * w.stride[axis] - w.pad_begin[axis] + k * w.dilation[axis];
      sees = from >= 0 && from < w.in[axis];
    }
    if (!sees) return false;
  }
  return true;
}

// The largest along rows, then that across them: 2 * k comparisons in place of k * k.
struct Passes {
  Extent3 padded{1, 1, 1};
  FoldPass along, across;
  int64_t between = 0;  // floats of what the first one leaves
  std::vector<float> no_weights;
};

Passes passes_of(const SlidingWindow& w) {
  Passes p;
  p.padded = padded_size(w);
  SlidingWindow along = w, across = w;
  along.kernel = {1, 1, w.kernel[2]};
  along.stride = {1, 1, w.stride[2]};
  along.out = {p.padded[0], p.padded[1], w.out[2]};
  p.along = window_pass(along, p.padded);
  p.along.out_row = w.out[2] + kRowSlack;
  across.kernel[2] = across.stride[2] = 1;
  p.across = window_pass(across, {p.padded[0], p.padded[1], p.along.out_row});
  p.between = p.padded[0] * p.padded[1] * p.along.out_row;
  p.no_weights.resize(static_cast<size_t>(w.taps()));
  return p;
}

}  // namespace

bool each_window_sees(const SlidingWindow& window) {
  return axis_sees(window, 0) && axis_sees(window, 1) && axis_sees(window, 2);
}

void max_pool(const SlidingWindow& window, int64_t planes, const float* x, float* y) {
  const Passes passes = passes_of(window);
  const int64_t elements = passes.padded[0] * passes.padded[1] * passes.padded[2];
  const int64_t grain = std::max<int64_t>(1, kGrain / (elements * window.kernel[2]));
  parallel_for(planes, grain, [&](int64_t first, int64_t end) {
    const Scratch padded_room(static_cast<size_t>(elements));
    const Scratch between_room(static_cast<size_t>(passes.between));
    float *padded = padded_room.data(), *between = between_room.data();
    for (int64_t i = first; i < end; ++i) {
      const float* none = passes.no_weights.data();
      at_width<PadPlane>(&window, &passes.padded, kLowest, x + i * window.in_size(), padded);
      at_width<FoldPlane<Largest>>(&passes.along, static_cast<const float*>(padded), none, kLowest,
                                   between);
      at_width<FoldPlane<Largest>>(&passes.across, static_cast<const float*>(between), none,
                                   kLowest, y + i * window.out_size());
    }
  });
}

}  // namespace clvet
