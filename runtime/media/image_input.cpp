#include "runtime/media/image_input.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/jpeg.h"
#include "runtime/media/png.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_NO_STDIO
#define STBI_MAX_DIMENSIONS 32768
// Tables that a file does not define are zeros then, and do not lead out of themselves.
#define STBI_MALLOC(size) std::calloc(1, size)
#define STBI_REALLOC(pointer, size) std::realloc(pointer, size)
#define STBI_FREE(pointer) std::free(pointer)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
// What the sanitizer counts as faults, and harms nothing: no bytes are copied to a null pointer;
// and where a JPEG's data end amid a code, bits of nowhere are shifted by up to 40.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("nonnull-attribute", "shift"))), \
                             apply_to = function)
#endif
#include <stb_image.h>
#ifdef __clang__
#pragma clang attribute pop
#endif
#pragma GCC diagnostic pop

namespace clvet {
namespace {

constexpr size_t kMaxImageFile = size_t{256} << 20;
constexpr int64_t kMaxPixels = int64_t{64} << 20;

struct Pixels {
  int width = 0, height = 0, channels = 3;
  std::unique_ptr<stbi_uc, void (*)(void*)> data{nullptr, stbi_image_free};
};

Result<Pixels> decode(const std::string& path, int channels) {
  CLVET_ASSIGN_OR_RETURN(const std::string bytes, read_file(path, kMaxImageFile));
  const auto* begin = reinterpret_cast<const stbi_uc*>(bytes.data());
  const int length = static_cast<int>(bytes.size());
  const char* fault = jpeg_fault(bytes);
  if (!fault) fault = png_fault(bytes);
  if (fault) {
    return fail(ErrorCode::kInvalidArgument, "{}: the image is damaged ({}); fetch it again", path,
                fault);
  }
  Pixels pixels;
  pixels.channels = channels;
  int in_file = 0;
  if (!stbi_info_from_memory(begin, length, &pixels.width, &pixels.height, &in_file)) {
    return fail(ErrorCode::kInvalidArgument, "{}: the image is neither PNG nor JPEG; convert it",
                path);
  }
  if (int64_t{pixels.width} * pixels.height > kMaxPixels) {
    return fail(ErrorCode::kInvalidArgument,
                "{}: an image of {} x {} pixels is too large; make it smaller", path, pixels.width,
                pixels.height);
  }
  pixels.data.reset(
      stbi_load_from_memory(begin, length, &pixels.width, &pixels.height, &in_file, channels));
  if (!pixels.data) {
    return fail(ErrorCode::kInvalidArgument, "{}: the image is damaged ({}); fetch it again", path,
                stbi_failure_reason());
  }
  return pixels;
}

struct Line {
  int low, high;
  double weight;  // of high
};

std::vector<Line> lines(int in, int out) {
  std::vector<Line> table;
  for (int i = 0; i < out; ++i) {
    const double x = std::clamp((i + 0.5) * in / out - 0.5, 0.0, in - 1.0);
    const int low = static_cast<int>(x);
    table.push_back({low, std::min(low + 1, in - 1), x - low});
  }
  return table;
}

void resample(const Pixels& pixels, int width, int height, const ImageOptions& options,
              float* out) {
  const int count = options.channels;
  const std::vector<Line> rows = lines(pixels.height, height), columns = lines(pixels.width, width);
  const auto at = [&](int y, int x, int c) -> double {
    return pixels.data.get()[(static_cast<size_t>(y) * pixels.width + x) * count + c];
  };
  for (int c = 0; c < count; ++c) {
    const int source = options.bgr ? count - 1 - c : c;
    for (int y = 0; y < height; ++y) {
      const auto& [low, high, down] = rows[y];
      for (int x = 0; x < width; ++x) {
        const auto& [left, right, across] = columns[x];
        const double top = std::lerp(at(low, left, source), at(low, right, source), across);
        const double bottom = std::lerp(at(high, left, source), at(high, right, source), across);
        const double value = (std::lerp(top, bottom, down) - options.mean[c]) * options.scale[c];
        const int64_t pixel = int64_t{y} * width + x;
        out[options.nhwc ? pixel * count + c : int64_t{c} * width * height + pixel] =
            static_cast<float>(value);
      }
    }
  }
}

}  // namespace

Result<Tensor> read_image(const std::string& path, const ImageOptions& options) {
  if (options.channels != 1 && options.channels != 3) {
    return fail(ErrorCode::kInvalidArgument, "an image must have 1 or 3 channels, not {}",
                options.channels);
  }
  CLVET_ASSIGN_OR_RETURN(const Pixels pixels, decode(path, options.channels));
  const int width = options.width > 0 ? options.width : pixels.width;
  const int height = options.height > 0 ? options.height : pixels.height;
  if (int64_t{width} * height > kMaxPixels) {
    return fail(ErrorCode::kInvalidArgument, "the image size {} x {} is too large", width, height);
  }
  const int count = options.channels;
  CLVET_ASSIGN_OR_RETURN(
      Tensor tensor, Tensor::create(DType::kF32, options.nhwc ? Shape{1, height, width, count}
                                                              : Shape{1, count, height, width}));
  resample(pixels, width, height, options, tensor.data<float>());
  return tensor;
}

}  // namespace clvet
