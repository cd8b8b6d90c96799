#include <gmock/gmock.h>

#include <cstddef>
#include <fstream>
#include <ios>

#include "runtime/graph/image_input.h"
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
  EXPECT_THAT(test::floats(*tensor), ElementsAre(255, 0, 0, 10, 0, 255, 0, 20, 0, 0, 255, 30));
}

TEST_F(ImageInput, TakesLayoutOrderMeanAndScale) {
  const auto tensor =
      read_image(path_, {.mean = {0, 0, 55}, .scale = {1, 1, 0.5}, .nhwc = true, .bgr = true});
  ASSERT_TRUE(tensor) << tensor.error().message;
  EXPECT_EQ(tensor->shape(), (Shape{1, 2, 2, 3}));
  EXPECT_THAT(test::floats(*tensor),
              ElementsAre(0, 0, 100, 0, 255, -27.5f, 255, 0, -27.5f, 30, 20, -22.5f));
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

}  // namespace
}  // namespace clvet
