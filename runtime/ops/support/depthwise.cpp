#include "runtime/ops/support/depthwise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "runtime/graph/graph.h"
#include "runtime/host/activation.h"
#include "runtime/host/lanes.h"
#include "runtime/host/parallel.h"
#include "runtime/host/scratch.h"
#include "runtime/host/width.h"
#include "runtime/ops/support/window.h"
#include "runtime/ops/support/window_fold.h"

namespace clvet {
namespace {

// Multiplications that are worth waking a thread.
constexpr int64_t kGrain = 50'000;

struct WeightedSum {
  template <int kBytes>
  static CLVET_INLINE void fold(float weight, const typename Lanes<kBytes>::Float& seen,
                                typename Lanes<kBytes>::Float& sum) {
    sum += weight * seen;
  }
};

}  // namespace

void depthwise(const SlidingWindow& window, const DepthwiseSize& size, const ConvTensors& tensors,
               const Activation& activation) {
  const Extent3 padded = padded_size(window);
  const FoldPass pass = window_pass(window, padded);
  const int64_t elements = padded[0] * padded[1] * padded[2];
  const int64_t work = size.multiplier * window.out_size() * window.taps() + elements;
  const int64_t grain = std::max<int64_t>(1, kGrain / work);
  parallel_for(size.images * size.channels, grain, [&](int64_t first, int64_t end) {
    const Scratch room(static_cast<size_t>(elements));
    float* plane = room.data();
    for (int64_t i = first; i < end; ++i) {
      at_width<PadPlane>(&window, &padded, 0.f, tensors.x + i * window.in_size(), plane);
      for (int64_t m = 0; m < size.multiplier; ++m) {
        const int64_t channel = i % size.channels * size.multiplier + m;
        float* out = tensors.y + (i * size.multiplier + m) * window.out_size();
        at_width<FoldPlane<WeightedSum>>(&pass, static_cast<const float*>(plane),
                                         tensors.w + channel * window.taps(),
                                         tensors.bias ? tensors.bias[channel] : 0.f, out);
        activate(activation, out, window.out_size());
      }
    }
  });
}

}  // namespace clvet
