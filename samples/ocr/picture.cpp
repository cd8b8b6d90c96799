#include "picture.h"

#include <clvet/clvet.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "geometry.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 32768
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace ocr {
namespace {

constexpr int kChannels = 3;
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr int64_t kMostPixels = int64_t{64} << 20;

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

clvet::Error bad(const std::string& path, const std::string& why) {
  return {clvet::ErrorCode::invalid_argument, path + ": " + why};
}

}  // namespace

clvet::Result<Picture> read_picture(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.empty()) return bad(path, "the picture cannot be read; name a PNG or JPEG file");
  if (bytes.size() > kMostBytes) return bad(path, "the picture is larger than 256 MiB");
  const auto* begin = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int length = static_cast<int>(bytes.size());
  Picture picture;
  int in_file = 0;
  if (!stbi_info_from_memory(begin, length, &picture.width, &picture.height, &in_file))
    return bad(path, "the image is neither PNG nor JPEG; convert it");
  if (int64_t{picture.width} * picture.height > kMostPixels)
    return bad(path, "an image of more than 64 megapixels is too large; make it smaller");
  const std::unique_ptr<stbi_uc, void (*)(void*)> rgb(
      stbi_load_from_memory(begin, length, &picture.width, &picture.height, &in_file, kChannels),
      stbi_image_free);
  if (!rgb) return bad(path, std::string("the image is damaged: ") + stbi_failure_reason());
  const size_t count = static_cast<size_t>(picture.width) * picture.height;
  picture.pixels.resize(count * kChannels);
  for (size_t i = 0; i < count; ++i)
    for (size_t c = 0; c < kChannels; ++c)
      picture.pixels[i * kChannels + c] = rgb.get()[i * kChannels + (kChannels - 1 - c)];
  return picture;
}

Quad whole(const Picture& picture) {
  return {
      {0, 0}, {static_cast<double>(picture.width), 0}, {0, static_cast<double>(picture.height)}};
}

std::vector<float> network_input(const Picture& picture, std::span<const Quad> parts,
                                 std::span<const int> widths, int width, int height) {
  const Sampler sampler{picture.pixels.data(), picture.width, picture.height};
  const size_t plane = static_cast<size_t>(width) * height;
  std::vector<float> values(parts.size() * kChannels * plane);
  float* out = values.data();
  for (size_t n = 0; n < parts.size(); ++n, out += kChannels * plane) {
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < widths[n]; ++x) {
        double value[kChannels];
        sampler.read(parts[n].at((x + 0.5) / widths[n], (y + 0.5) / height), value);
        for (size_t c = 0; c < kChannels; ++c) {
          out[c * plane + static_cast<size_t>(y) * width + x] =
              static_cast<float>((value[c] / 255 - 0.5) / 0.5);
        }
      }
    }
  }
  return values;
}

}  // namespace ocr
