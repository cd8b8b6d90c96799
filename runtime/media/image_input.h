// PNG and JPEG files as network inputs.
#pragma once

#include <array>
#include <string>

#include "base/result.h"
#include "runtime/graph/tensor.h"

namespace clvet {

struct ImageOptions {
  int width = 0, height = 0;  // 0: as in the file
  int channels = 3;           // 3, or 1 for grey
  // value = (pixel - mean) * scale with pixels 0..255, by channel in the order of the output.
  std::array<double, 3> mean{0, 0, 0};
  std::array<double, 3> scale{1, 1, 1};
  bool nhwc = false;  // else nchw
  bool bgr = false;
};

// f32 [1,C,H,W] or [1,H,W,C], resized bilinearly (half-pixel centres). kInvalidArgument for a file
// that is no image or larger than 64 megapixels.
Result<Tensor> read_image(const std::string& path, const ImageOptions& options);

}  // namespace clvet
