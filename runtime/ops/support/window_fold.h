// Planes that windows slide over: what the taps of each window see is folded into one number. For
// depthwise convolution and pooling on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/host/lanes.h"
#include "runtime/host/width.h"
#include "runtime/ops/support/window.h"

namespace clvet {

// Floats behind each row of a plane that may be read: no result hangs on them.
inline constexpr int64_t kRowSlack = 32;

// A plane with its padding.
Extent3 padded_size(const SlidingWindow& window);

struct PadPlane {
  // `plane` has window.in_size() values, `to` has room for the padded one.
  template <int kBytes>
  static CLVET_INLINE void run(const SlidingWindow* window, const Extent3* padded, float padding,
                               const float* plane, float* to) {
    const SlidingWindow& w = *window;
    const Extent3& size = *padded;
    for (int64_t z = 0; z < size[0]; ++z) {
      const int64_t iz = z - w.pad_begin[0];
      for (int64_t y = 0; y < size[1]; ++y, to += size[2]) {
        const int64_t iy = y - w.pad_begin[1];
        const bool inside = iz >= 0 && iz < w.in[0] && iy >= 0 && iy < w.in[1];
        const int64_t before = inside ? w.pad_begin[2] : size[2];
        fill<kBytes>(padding, before, to);
        if (!inside) continue;
        Lanes<kBytes>::copy(plane + (iz * w.in[1] + iy) * w.in[2], w.in[2], to + before);
        fill<kBytes>(padding, size[2] - before - w.in[2], to + before + w.in[2]);
      }
    }
  }

 private:
  template <int kBytes>
  static CLVET_INLINE void fill(float value, int64_t count, float* to) {
    typename Lanes<kBytes>::Float values;
    Lanes<kBytes>::fill(value, values);
    int64_t i = 0;
    for (; i + Lanes<kBytes>::kCount <= count; i += Lanes<kBytes>::kCount)
      Lanes<kBytes>::store(values, to + i);
    for (; i < count; ++i) to[i] = value;
  }
};

// One pass over a padded plane of rows `row` apart and slices `slice` apart.
struct FoldPass {
  int64_t row = 0, slice = 0;
  Extent3 out{1, 1, 1}, stride{1, 1, 1};
  int64_t out_row = 0;        // from row to row of the result
  std::vector<int64_t> taps;  // of the window that begins at element 0
};

// The pass of a whole window over its padded plane.
FoldPass window_pass(const SlidingWindow& window, const Extent3& padded);

// Op::fold<kBytes>(weight, seen, folded) takes in what a tap sees; each result begins as `start`.
// `weights`: one for each tap.
template <class Op>
struct FoldPlane {
  template <int kBytes>
  static CLVET_INLINE void run(const FoldPass* pass, const float* plane, const float* weights,
                               float start, float* out) {
    const FoldPass& p = *pass;
    for (int64_t z = 0; z < p.out[0]; ++z) {
      for (int64_t y = 0; y < p.out[1]; ++y, out += p.out_row) {
        const float* row = plane + z * p.stride[0] * p.slice + y * p.stride[1] * p.row;
        if (p.stride[2] == 1)
          one_row<kBytes, 1>(p, row, weights, start, out);
        else if (p.stride[2] == 2)
          one_row<kBytes, 2>(p, row, weights, start, out);
        else
          any_row<kBytes>(p, row, weights, start, out);
      }
    }
  }

 private:
  template <int kBytes, int kStride>
  static CLVET_INLINE void one_row(const FoldPass& p, const float* row, const float* weights,
                                   float start, float* out) {
    using L = Lanes<kBytes>;
    typename L::Float folded = {}, seen = {};
    const int64_t* taps = p.taps.data();
    const auto count = static_cast<int64_t>(p.taps.size());
    for (int64_t x = 0; x < p.out[2]; x += L::kCount) {
      const float* from = row + x * kStride;
      L::fill(start, folded);
      for (int64_t tap = 0; tap < count; ++tap) {
        if constexpr (kStride == 1)
          L::load(from + taps[tap], seen);
        else
          L::load_even(from + taps[tap], seen);
        Op::template fold<kBytes>(weights[tap], seen, folded);
      }
      if (x + L::kCount <= p.out[2])
        L::store(folded, out + x);
      else
        L::store_part(folded, p.out[2] - x, out + x);
    }
  }

  template <int kBytes>
  static CLVET_INLINE void any_row(const FoldPass& p, const float* row, const float* weights,
                                   float start, float* out) {
    using L = Lanes<kBytes>;
    typename L::Float folded = {}, seen = {};
    for (int64_t x = 0; x < p.out[2]; ++x) {
      L::fill(start, folded);
      for (size_t tap = 0; tap < p.taps.size(); ++tap) {
        L::load_part(row + x * p.stride[2] + p.taps[tap], 1, seen);
        Op::template fold<kBytes>(weights[tap], seen, folded);
      }
      L::store_part(folded, 1, out + x);
    }
  }
};

}  // namespace clvet
