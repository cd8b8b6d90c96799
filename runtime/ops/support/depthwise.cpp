#include "runtime/ops/support/depthwise.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/graph/graph.h"
#include "runtime/host/activation.h"
#include "runtime/host/lanes.h"
#include "runtime/host/parallel.h"
#include "runtime/host/scratch.h"
#include "runtime/host/width.h"
#include "runtime/ops/support/window.h"

namespace clvet {
namespace {

// Multiplications that are worth waking a thread.
constexpr int64_t kGrain = 50'000;
// The widest vector of floats: rows of a padded plane are readable as far beyond their end.
constexpr int64_t kWidest = 16;

// A plane with its padding, and where the taps of a window lie in it.
struct Padded {
  Extent3 size{1, 1, 1};
  std::vector<int64_t> taps;  // offsets from the window's first tap
  int64_t elements() const { return size[0] * size[1] * size[2]; }
};

Padded padded_for(const SlidingWindow& w) {
  Padded padded;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t reach = (w.out[i] - 1) * w.stride[i] + (w.kernel[i] - 1) * w.dilation[i] + 1;
    padded.size[i] = std::max(reach, w.pad_begin[i] + w.in[i]);
  }
  padded.size[2] += 2 * kWidest * std::min<int64_t>(w.stride[2], 2);
  for (int64_t tap = 0; tap < w.taps(); ++tap) {
    const int64_t kx = tap % w.kernel[2], ky = tap / w.kernel[2] % w.kernel[1],
                  kz = tap / (w.kernel[2] * w.kernel[1]);
    padded.taps.push_back((kz * w.dilation[0] * padded.size[1] + ky * w.dilation[1]) *
                              padded.size[2] +
                          kx * w.dilation[2]);
  }
  return padded;
}

struct PadPlane {
  template <int kBytes>
  static CLVET_INLINE void run(const SlidingWindow* window, const Padded* padded,
                               const float* plane, float* to) {
    const SlidingWindow& w = *window;
    const Extent3& size = padded->size;
    for (int64_t z = 0; z < size[0]; ++z) {
      const int64_t iz = z - w.pad_begin[0];
      for (int64_t y = 0; y < size[1]; ++y, to += size[2]) {
        const int64_t iy = y - w.pad_begin[1];
        const bool inside = iz >= 0 && iz < w.in[0] && iy >= 0 && iy < w.in[1];
        const int64_t before = inside ? w.pad_begin[2] : size[2];
        clear<kBytes>(before, to);
        if (!inside) continue;
        Lanes<kBytes>::copy(plane + (iz * w.in[1] + iy) * w.in[2], w.in[2], to + before);
        clear<kBytes>(size[2] - before - w.in[2], to + before + w.in[2]);
      }
    }
  }

 private:
  template <int kBytes>
  static CLVET_INLINE void clear(int64_t count, float* to) {
    const typename Lanes<kBytes>::Float zeros{};
    int64_t i = 0;
    for (; i + Lanes<kBytes>::kCount <= count; i += Lanes<kBytes>::kCount)
      Lanes<kBytes>::store(zeros, to + i);
    for (; i < count; ++i) to[i] = 0;
  }
};

struct ConvolvePlane {
  template <int kBytes>
  static CLVET_INLINE void run(const SlidingWindow* window, const Padded* padded,
                               const float* plane, const float* weights, float bias, float* out) {
    const SlidingWindow& w = *window;
    const Extent3& size = padded->size;
    const int64_t* taps = padded->taps.data();
    for (int64_t z = 0; z < w.out[0]; ++z) {
      for (int64_t y = 0; y < w.out[1]; ++y, out += w.out[2]) {
        const float* row = plane + (z * w.stride[0] * size[1] + y * w.stride[1]) * size[2];
        if (w.stride[2] == 1)
          one_row<kBytes, 1>(row, taps, w.taps(), weights, bias, w.out[2], out);
        else if (w.stride[2] == 2)
          one_row<kBytes, 2>(row, taps, w.taps(), weights, bias, w.out[2], out);
        else
          any_row(row, taps, w.taps(), weights, bias, w.stride[2], w.out[2], out);
      }
    }
  }

 private:
  template <int kBytes, int kStride>
  static CLVET_INLINE void one_row(const float* row, const int64_t* taps, int64_t count,
                                   const float* weights, float bias, int64_t width, float* out) {
    using L = Lanes<kBytes>;
    typename L::Float sum, seen;
    for (int64_t x = 0; x < width; x += L::kCount) {
      const float* from = row + x * kStride;
      L::fill(bias, sum);
      for (int64_t tap = 0; tap < count; ++tap) {
        if constexpr (kStride == 1)
          L::load(from + taps[tap], seen);
        else
          L::load_even(from + taps[tap], seen);
        sum += weights[tap] * seen;
      }
      if (x + L::kCount <= width)
        L::store(sum, out + x);
      else
        L::store_part(sum, width - x, out + x);
    }
  }

  static CLVET_INLINE void any_row(const float* row, const int64_t* taps, int64_t count,
                                   const float* weights, float bias, int64_t stride, int64_t width,
                                   float* out) {
    for (int64_t x = 0; x < width; ++x) {
      float sum = bias;
      for (int64_t tap = 0; tap < count; ++tap) sum += weights[tap] * row[x * stride + taps[tap]];
      out[x] = sum;
    }
  }
};

}  // namespace

void depthwise(const SlidingWindow& window, const DepthwiseSize& size, const ConvTensors& tensors,
               const Activation& activation) {
  const Padded padded = padded_for(window);
  const int64_t work = size.multiplier * window.out_size() * window.taps() + padded.elements();
  const int64_t grain = std::max<int64_t>(1, kGrain / std::max<int64_t>(work, 1));
  parallel_for(size.images * size.channels, grain, [&](int64_t first, int64_t end) {
    float* plane = scratch(static_cast<size_t>(padded.elements()));
    for (int64_t i = first; i < end; ++i) {
      at_width<PadPlane>(&window, &padded, tensors.x + i * window.in_size(), plane);
      for (int64_t m = 0; m < size.multiplier; ++m) {
        const int64_t channel = i % size.channels * size.multiplier + m;
        float* out = tensors.y + (i * size.multiplier + m) * window.out_size();
        at_width<ConvolvePlane>(&window, &padded, static_cast<const float*>(plane),
                                tensors.w + channel * window.taps(),
                                tensors.bias ? tensors.bias[channel] : 0.f, out);
        activate(activation, out, window.out_size());
      }
    }
  });
}

}  // namespace clvet
