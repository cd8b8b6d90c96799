#include <gmock/gmock.h>

#include <cstddef>
#include <vector>

#include "samples/ocr/geometry.h"
#include "samples/ocr/picture.h"

namespace ocr {
namespace {

// Blue is 2 * x, green is y, red is 255.
Picture gradient(int width, int height) {
  Picture picture{width, height, {}};
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      for (const int value : {2 * x, y, 255}) picture.pixels.push_back(static_cast<float>(value));
    }
  }
  return picture;
}

// A network input. Its values come back as those of pixels, 0 to 255.
struct Input {
  std::vector<float> values;
  int width, height;

  double pixel(int n, int c, int y, int x) const {
    const int at = ((n * 3 + c) * height + y) * width + x;
    return (static_cast<double>(values[static_cast<size_t>(at)]) * 0.5 + 0.5) * 255;
  }
};

TEST(Picture, AWholePictureOfTheSameSizeIsItself) {
  const Picture picture = gradient(20, 10);
  const Quad all = whole(picture);
  const int width = 20;
  const Input input{network_input(picture, {&all, 1}, {&width, 1}, 20, 10), 20, 10};
  EXPECT_NEAR(input.pixel(0, 0, 3, 7), 14, 1e-3);
  EXPECT_NEAR(input.pixel(0, 1, 3, 7), 3, 1e-3);
  EXPECT_NEAR(input.pixel(0, 2, 3, 7), 255, 1e-3);
}

TEST(Picture, PartsAreStretchedTurnedAndPaddedWithZeros) {
  const Picture picture = gradient(40, 40);
  const Quad part{{10, 10}, {20, 0}, {0, 10}};
  const std::vector<Quad> parts = {part, part.turned_half()};
  const std::vector<int> widths = {10, 10};
  const Input input{network_input(picture, parts, widths, 12, 5), 12, 5};
  ASSERT_EQ(input.values.size(), size_t{2 * 3 * 5 * 12});
  // Each output pixel covers 2 x 2 of the picture: its middle is at 10 + 2 x + 1 - 0.5.
  EXPECT_NEAR(input.pixel(0, 0, 1, 2), 2 * 14.5, 1e-3);
  EXPECT_NEAR(input.pixel(0, 1, 1, 2), 12.5, 1e-3);
  EXPECT_NEAR(input.pixel(1, 0, 3, 7), 2 * 14.5, 1e-3);
  EXPECT_NEAR(input.pixel(1, 1, 3, 7), 12.5, 1e-3);
  EXPECT_EQ(input.values[11], 0);
}

TEST(Picture, BeyondThePictureItsBorderGoesOn) {
  const Picture picture = gradient(10, 10);
  const Quad part{{-10, 0}, {10, 0}, {0, 10}};
  const int width = 10;
  const Input input{network_input(picture, {&part, 1}, {&width, 1}, 10, 10), 10, 10};
  EXPECT_NEAR(input.pixel(0, 0, 4, 3), 0, 1e-3);
  EXPECT_NEAR(input.pixel(0, 1, 4, 3), 4, 1e-3);
}

}  // namespace
}  // namespace ocr
