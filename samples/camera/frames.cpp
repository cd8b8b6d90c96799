#include "frames.h"

#include <clvet/clvet.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <system_error>
#include <utility>

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_ONLY_JPEG
#define STBI_ONLY_PNG
#define STBI_MAX_DIMENSIONS 32768
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wsign-compare"
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#include <stb_image.h>
#pragma GCC diagnostic pop

namespace camera {
namespace {

constexpr int kChannels = 3;
constexpr int kBar = 24;  // pixels

float drawn(int number, int x, int y) {
  const bool bright = ((x + 4 * number) / kBar + y / kBar) % 2 == 0;
  return bright ? 1.F : -1.F;
}

}  // namespace

clvet::Result<Frames::Picture> Frames::read(const std::string& path) {
  Picture picture;
  int in_file = 0;
  const std::unique_ptr<stbi_uc, void (*)(void*)> rgb(
      stbi_load(path.c_str(), &picture.width, &picture.height, &in_file, kChannels),
      stbi_image_free);
  if (!rgb) {
    return clvet::Error{clvet::ErrorCode::invalid_argument,
                        path + ": no picture (" + stbi_failure_reason() + ")"};
  }
  const size_t count = static_cast<size_t>(picture.width) * picture.height * kChannels;
  picture.rgb.assign(rgb.get(), rgb.get() + count);
  return picture;
}

clvet::Result<Frames> Frames::of_folder(const std::string& folder) {
  std::error_code fault;
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder, fault)) {
    const std::string kind = entry.path().extension();
    if (kind == ".png" || kind == ".jpg" || kind == ".jpeg") files.insert(entry.path());
  }
  if (files.empty()) {
    return clvet::Error{clvet::ErrorCode::not_found, folder + ": there is no .png or .jpg in it"};
  }
  Frames frames;
  for (const std::string& file : files) {
    auto picture = read(file);
    if (!picture) return picture.error();
    frames.pictures_.push_back(std::move(*picture));
  }
  return frames;
}

void Frames::fill(int number, Size size, std::span<float> out) const {
  const Picture* picture =
      pictures_.empty() ? nullptr : &pictures_[static_cast<size_t>(number) % pictures_.size()];
  const size_t plane = static_cast<size_t>(size.width) * size.height;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      const size_t at = static_cast<size_t>(y) * size.width + x;
      if (!picture) {
        for (size_t c = 0; c < kChannels; ++c) out[c * plane + at] = drawn(number, x, y);
        continue;
      }
      const size_t row = static_cast<size_t>(y) * picture->height / size.height;
      const size_t column = static_cast<size_t>(x) * picture->width / size.width;
      const unsigned char* rgb = &picture->rgb[(row * picture->width + column) * kChannels];
      for (size_t c = 0; c < kChannels; ++c)
        out[c * plane + at] = static_cast<float>(rgb[kChannels - 1 - c]) / 127.5F - 1;
    }
  }
}

}  // namespace camera
