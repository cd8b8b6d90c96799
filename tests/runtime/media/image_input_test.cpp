#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <ios>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "runtime/graph/tensor.h"
#include "runtime/media/image_input.h"
#include "tests/runtime/helpers.h"
#include "tests/support.h"

namespace clvet {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// 2 x 2: red, green / blue, (10, 20, 30).
const unsigned char kPng[] = {
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x08, 0x02, 0x00, 0x00, 0x00, 0xfd, 0xd4, 0x9a,
    0x73, 0x00, 0x00, 0x00, 0x16, 0x49, 0x44, 0x41, 0x54, 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0xc0,
    0xf0, 0x9f, 0x81, 0x81, 0x81, 0xe1, 0x3f, 0x97, 0x88, 0x1c, 0x00, 0x1a, 0x58, 0x03, 0x3a, 0x82,
    0xe0, 0xab, 0x53, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e, 0x44, 0xae, 0x42, 0x60, 0x82,
};

class ImageInput : public ::testing::Test {
 protected:
  void SetUp() override { write(std::string(reinterpret_cast<const char*>(kPng), sizeof kPng)); }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }

  const test::TempDir dir_;
  const std::string path_ = dir_ / "t.png";
};

TEST_F(ImageInput, IsNchwRgbUnlessAskedOtherwise) {
  const auto tensor = read_image(path_, {});
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape(), (Shape{1, 3, 2, 2}));
  EXPECT_EQ(test::floats(*tensor),
            (std::vector<float>{255, 0, 0, 10, 0, 255, 0, 20, 0, 0, 255, 30}));
}

TEST_F(ImageInput, TakesLayoutOrderMeanAndScale) {
  const auto tensor =
      read_image(path_, {.mean = {0, 0, 55}, .scale = {1, 1, 0.5}, .nhwc = true, .bgr = true});
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape(), (Shape{1, 2, 2, 3}));
  EXPECT_EQ(test::floats(*tensor),
            (std::vector<float>{0, 0, 100, 0, 255, -27.5f, 255, 0, -27.5f, 30, 20, -22.5f}));
}

TEST_F(ImageInput, ResizesBilinearly) {
  const auto tensor = read_image(path_, {.width = 4, .height = 1});
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape(), (Shape{1, 3, 1, 4}));
  EXPECT_FLOAT_EQ(tensor->data<float>()[0], 127.5f);
  EXPECT_FLOAT_EQ(tensor->data<float>()[1], 127.5f * 0.75f + 5 * 0.25f);
  EXPECT_FLOAT_EQ(tensor->data<float>()[3], 5);
}

TEST_F(ImageInput, RefusesWhatIsNoImage) {
  EXPECT_FALSE(read_image("/nonexistent.png", {}));
  EXPECT_FALSE(read_image(path_, {.channels = 2}));
  for (const size_t length : {size_t{0}, size_t{4}, size_t{40}, sizeof kPng - 20}) {
    write(std::string(reinterpret_cast<const char*>(kPng), length));
    const auto tensor = read_image(path_, {});
    ASSERT_FALSE(tensor) << length;
    EXPECT_THAT(tensor.error().message, HasSubstr(path_));
  }
}

// 3 x 2 grey, as PGM would have it, in the simplest PNG: stored blocks, no filter. CRCs are not
// checked by every reader, so they are made right.
std::string be32(uint32_t value) {
  std::string out;
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift);
  return out;
}

uint32_t crc_of(const std::string& bytes) {
  uint32_t crc = ~0u;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0u);
  }
  return ~crc;
}

std::string chunk(const std::string& kind, const std::string& data) {
  return be32(static_cast<uint32_t>(data.size())) + kind + data + be32(crc_of(kind + data));
}

// `rows` of 8-bit grey.
std::string grey_png(const std::vector<std::vector<int>>& rows, uint32_t width, uint32_t height) {
  std::string raw;
  for (const auto& row : rows) {
    raw += '\0';
    for (const int value : row) raw += static_cast<char>(value);
  }
  uint32_t a = 1, b = 0;
  for (const char byte : raw) {
    a = (a + static_cast<unsigned char>(byte)) % 65521;
    b = (b + a) % 65521;
  }
  const auto length = static_cast<uint16_t>(raw.size()), inverse = static_cast<uint16_t>(~length);
  std::string stream = "\x78\x01\x01";
  for (const uint16_t word : {length, inverse}) {
    stream += static_cast<char>(word & 255);
    stream += static_cast<char>(word >> 8);
  }
  stream += raw + be32(b << 16 | a);
  const std::string header = be32(width) + be32(height) + std::string("\x08\0\0\0\0", 5);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", header) + chunk("IDAT", stream) + chunk("IEND", "");
}

const std::vector<std::vector<int>> kGrey = {{0, 100, 250}, {40, 60, 10}};

TEST_F(ImageInput, ReadsGreyAsOneChannelOrThree) {
  write(grey_png(kGrey, 3, 2));
  const auto one = read_image(path_, {.channels = 1});
  ASSERT_TRUE(one) << one.error().message;
  EXPECT_EQ(one->shape(), (Shape{1, 1, 2, 3}));
  EXPECT_EQ(test::floats(*one), (std::vector<float>{0, 100, 250, 40, 60, 10}));
  const auto three = read_image(path_, {.nhwc = true});
  ASSERT_TRUE(three) << three.error().message;
  EXPECT_THAT(std::vector<float>(three->data<float>() + 3, three->data<float>() + 9),
              ElementsAre(100, 100, 100, 250, 250, 250));
}

// Bilinear with half-pixel centres, the border repeated, as OpenCV's and PIL's "bilinear" without
// antialiasing have it.
double resized(double y, double x, int height, int width) {
  const auto place = [](double at, int out, size_t in) {
    return std::min(std::max((at + 0.5) * static_cast<double>(in) / out - 0.5, 0.0),
                    static_cast<double>(in) - 1);
  };
  const double v = place(y, height, 2), u = place(x, width, 3);
  double sum = 0;
  for (size_t i = 0; i < 2; ++i) {
    for (size_t j = 0; j < 3; ++j) {
      const double wy = std::max(0.0, 1 - std::abs(v - static_cast<double>(i)));
      const double wx = std::max(0.0, 1 - std::abs(u - static_cast<double>(j)));
      sum += wy * wx * kGrey[i][j];
    }
  }
  return sum;
}

TEST_F(ImageInput, ResizesToAnyExtentByWeightsOfDistance) {
  write(grey_png(kGrey, 3, 2));
  for (const auto& [width, height] :
       {std::pair(1, 1), std::pair(5, 7), std::pair(3, 1), std::pair(2, 2), std::pair(64, 3)}) {
    const auto image = read_image(path_, {.width = width, .height = height, .channels = 1});
    ASSERT_TRUE(image) << image.error().message;
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        // Rounded to float once: 2^-24 of 255.
        ASSERT_NEAR(image->data<float>()[y * width + x], resized(y, x, height, width), 2e-5)
            << width << "x" << height << " at " << x << "," << y;
      }
    }
  }
}

TEST_F(ImageInput, RefusesImagesAndTargetsThatAreTooLarge) {
  write(grey_png(kGrey, 3, 2));
  EXPECT_THAT(read_image(path_, {.width = 32768, .height = 32768}).error().message,
              HasSubstr("32768 x 32768 is too large"));
  for (const uint32_t extent : {20000u, 0x7fffffffu, 0xffffffffu, 0u}) {
    write(grey_png(kGrey, extent, extent));
    const auto image = read_image(path_, {});
    ASSERT_FALSE(image) << extent;
    EXPECT_EQ(image.error().code, ErrorCode::kInvalidArgument);
  }
}

TEST_F(ImageInput, SurvivesEveryFlippedByte) {
  const std::string whole = grey_png(kGrey, 3, 2);
  for (size_t at = 0; at < whole.size(); ++at) {
    for (const int flip : {0x01, 0x80}) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ flip);
      write(damaged);
      const auto image = read_image(path_, {.width = 2, .height = 2});
      EXPECT_THAT(image ? path_ : image.error().message, HasSubstr(path_));
    }
  }
}

}  // namespace
}  // namespace clvet
