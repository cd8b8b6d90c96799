#include "runtime/media/jpeg.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>

#include "runtime/media/image_input.h"
#include "tests/support.h"

namespace clvet {
namespace {

const std::string kStart = "\xFF\xD8", kEnd = "\xFF\xD9";

std::string segment(char marker, const std::string& bytes) {
  const size_t length = bytes.size() + 2;
  const std::string head{'\xFF', marker, static_cast<char>(length >> 8),
                         static_cast<char>(length & 0xFF)};
  return head + bytes;
}

// A Huffman table with that many codes of 15 and of 16 bits.
std::string table(int first, int second) {
  std::string bytes(17, '\0');
  bytes[15] = static_cast<char>(first);
  bytes[16] = static_cast<char>(second);
  return bytes + std::string(static_cast<size_t>(first + second), 'v');
}

std::string tables(const std::string& bytes) { return segment('\xC4', bytes); }

TEST(JpegFault, IsATableOfMoreCodesThanTheDecoderTakes) {
  EXPECT_EQ(jpeg_fault(kStart + tables(table(1, 254)) + kEnd), nullptr);
  EXPECT_STREQ(jpeg_fault(kStart + tables(table(1, 255)) + kEnd),
               "a Huffman table of more than 255 codes");
  EXPECT_NE(jpeg_fault(kStart + tables(table(3, 4) + table(255, 2)) + kEnd), nullptr);
}

TEST(JpegFault, IsFoundBehindOtherSegmentsFillAndScans) {
  const std::string bad = tables(table(255, 255)) + kEnd;
  const std::string scan =
      segment('\xDA', std::string(10, '\1')) + std::string("\x12\xFF\0\x34\xFF\xD0\x56", 7);
  EXPECT_NE(jpeg_fault(kStart + segment('\xE0', "JFIF") + "padding\xFF\xFF" + bad), nullptr);
  EXPECT_NE(jpeg_fault(kStart + tables(table(3, 4)) + scan + bad), nullptr);
  EXPECT_NE(jpeg_fault("\xFF\xFF\xD8" + scan + segment('\xFE', kEnd) + bad), nullptr);
}

TEST(JpegFault, IsNotWhatADecoderNeverReads) {
  const std::string bad = tables(table(255, 255));
  EXPECT_EQ(jpeg_fault(kStart + segment('\xFE', bad) + kEnd), nullptr);
  EXPECT_EQ(jpeg_fault(kStart + kEnd + bad), nullptr);
  EXPECT_EQ(jpeg_fault("\x89PNG" + bad), nullptr);
  EXPECT_EQ(jpeg_fault(""), nullptr);
}

TEST(JpegFault, IsLookedForInFilesThatEndAnywhere) {
  const std::string whole = kStart + segment('\xE0', "JFIF") + tables(table(2, 255)) + kEnd;
  for (size_t size = 0; size < whole.size(); ++size)
    (void)jpeg_fault(std::string_view(whole).substr(0, size));
}

TEST(ReadImage, RefusesAJpegFileThatWouldOverflowItsDecoder) {
  const test::TempDir dir;
  test::put(dir / "x.jpg", kStart + tables(table(255, 255)) + kEnd);
  const auto tensor = read_image(dir / "x.jpg", {});
  ASSERT_FALSE(tensor);
  EXPECT_EQ(tensor.error().message, (dir / "x.jpg") +
                                        ": the image is damaged (a Huffman table of "
                                        "more than 255 codes); fetch it again");
}

}  // namespace
}  // namespace clvet
