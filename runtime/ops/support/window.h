// Sliding windows of Conv, ConvTranspose and the pools, always as three spatial axes (missing ones
// in front have extent 1).
#pragma once

#include <array>
#include <cstdint>

#include "base/result.h"
#include "kernels/contract.h"
#include "runtime/graph/graph.h"
#include "runtime/graph/tensor.h"

namespace clvet {

using Extent3 = std::array<int64_t, 3>;

struct SlidingWindow {
  int rank = 2;  // spatial axes of the model's tensors
  Extent3 in{1, 1, 1}, out{1, 1, 1};
  Extent3 kernel{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1};
  Extent3 pad_begin{0, 0, 0}, pad_end{0, 0, 0};

  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  int64_t in_size() const { return in[0] * in[1] * in[2]; }
  int64_t out_size() const { return out[0] * out[1] * out[2]; }
  // `leading` extents followed by the model's own spatial extents of the output.
  Shape output_shape(Shape leading) const;
  // A window that sees the same and makes the same, for loops along the last axis: axes of extent 1
  // that no window reaches beyond come first.
  SlidingWindow compact() const;
};

// From the attributes of a Conv or pool on an input of `shape` [N,C,spatial...]; `kernel` where the
// attribute kernel_shape is absent. kInvalidArgument for attributes that contradict the shape.
Result<SlidingWindow> window_of(const Node& node, const Shape& shape, const Shape& kernel);
// The same for ConvTranspose: `out` is the larger tensor.
Result<SlidingWindow> transposed_window_of(const Node& node, const Shape& shape,
                                           const Shape& kernel);

// Adds a matrix [channels*taps][in_size] of a transposed convolution into an image.
void col2im(const SlidingWindow& window, const float* matrix, int64_t channels, float* image);

// Dims stride_*, pad_*, dil_*, KH, KW, H, W, OH, OW of a kernels op; false for three real axes.
bool window_dims(const SlidingWindow& window, Dims& dims);

}  // namespace clvet
