// What a convolution's windows see of an image, as the right matrix of a product: never all of it
// in memory at once.
#pragma once

#include <cstdint>

#include "runtime/host/matrix.h"
#include "runtime/ops/support/window.h"

namespace clvet {

// Row c * taps + tap, column of the output's positions in order: what that tap sees of plane c of
// the image; 0 in the padding.
class WindowMatrix : public RightMatrix {
 public:
  // The image must outlive it: planes of window.in_size() elements.
  WindowMatrix(const SlidingWindow& window, const float* image) : window_(window), image_(image) {}
  void pack(int64_t k, int64_t depth, int64_t column, int64_t count, float* to,
            int64_t stride) const override;

 private:
  SlidingWindow window_;
  const float* image_;
};

}  // namespace clvet
