#include "samples/ocr/picture.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/image_input.h"
#include "samples/ocr/geometry.h"

namespace clvet::ocr {
namespace {

constexpr int kChannels = 3;

// The three channels at a place; the centre of the first pixel is (0.5, 0.5).
struct Sampler {
  const float* pixels;
  int width, height;

  void read(Point place, double* out) const {
    const double x = std::clamp(place.x - 0.5, 0.0, width - 1.0);
    const double y = std::clamp(place.y - 0.5, 0.0, height - 1.0);
    const int x0 = static_cast<int>(x), y0 = static_cast<int>(y);
    const int x1 = std::min(x0 + 1, width - 1), y1 = std::min(y0 + 1, height - 1);
    for (int c = 0; c < kChannels; ++c) {
      const double top = std::lerp(at(x0, y0, c), at(x1, y0, c), x - x0);
      const double bottom = std::lerp(at(x0, y1, c), at(x1, y1, c), x - x0);
      out[c] = std::lerp(top, bottom, y - y0);
    }
  }
  double at(int x, int y, int c) const {
    return static_cast<double>(pixels[(static_cast<size_t>(y) * width + x) * kChannels + c]);
  }
};

}  // namespace

Result<Picture> read_picture(const std::string& path) {
  ImageOptions options;
  options.nhwc = true;
  options.bgr = true;
  Picture picture;
  CLVET_ASSIGN_OR_RETURN(picture.pixels, read_image(path, options));
  picture.height = static_cast<int>(picture.pixels.dim(1));
  picture.width = static_cast<int>(picture.pixels.dim(2));
  return picture;
}

Quad whole(const Picture& picture) {
  return {
      {0, 0}, {static_cast<double>(picture.width), 0}, {0, static_cast<double>(picture.height)}};
}

Result<Tensor> network_input(const Picture& picture, std::span<const Quad> parts,
                             std::span<const int> widths, int width, int height) {
  CLVET_ASSIGN_OR_RETURN(
      Tensor tensor,
      Tensor::create(DType::kF32, {static_cast<int64_t>(parts.size()), kChannels, height, width}));
  const Sampler sampler{picture.pixels.data<float>(), picture.width, picture.height};
  const int64_t plane = int64_t{width} * height;
  float* out = tensor.data<float>();
  for (size_t n = 0; n < parts.size(); ++n, out += kChannels * plane) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < widths[n]; ++x) {
        double value[kChannels];
        sampler.read(parts[n].at((x + 0.5) / widths[n], (y + 0.5) / height), value);
        for (int c = 0; c < kChannels; ++c) {
          out[c * plane + int64_t{y} * width + x] =
              static_cast<float>((value[c] / 255 - 0.5) / 0.5);
        }
      }
    }
  }
  return tensor;
}

}  // namespace clvet::ocr
