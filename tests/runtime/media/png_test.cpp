#include "runtime/media/png.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

namespace clvet {
namespace {

std::string chunk(const std::string& length, const std::string& type, const std::string& data) {
  return length + type + data + std::string(4, '\0');
}

std::string picture(const std::string& data_length) {
  return std::string("\x89PNG\r\n\x1a\n", 8) +
         chunk(std::string("\0\0\0\x0d", 4), "IHDR", std::string(13, '\1')) +
         chunk(data_length, "IDAT", "12345") + chunk(std::string(4, '\0'), "IEND", "");
}

TEST(PngFault, IsNoneOfAFileWhoseChunksAreThere) {
  EXPECT_EQ(png_fault(picture(std::string("\0\0\0\x05", 4))), nullptr);
}

TEST(PngFault, IsAChunkThatIsLongerThanTheFile) {
  EXPECT_NE(png_fault(picture(std::string("\x3f\0\0\x05", 4))), nullptr);
  EXPECT_NE(png_fault(picture("\xff\xff\xff\xff")), nullptr);
}

TEST(PngFault, IsNoneOfOtherFilesHoweverShort) {
  const std::string whole = picture(std::string("\0\0\0\x05", 4));
  EXPECT_EQ(png_fault(""), nullptr);
  EXPECT_EQ(png_fault("\xff\xd8\xff"), nullptr);
  for (size_t size = 0; size < whole.size(); ++size) (void)png_fault(whole.substr(0, size));
}

}  // namespace
}  // namespace clvet
