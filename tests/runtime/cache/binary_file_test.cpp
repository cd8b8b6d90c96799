#include "runtime/cache/binary_file.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <span>
#include <string>

#include "base/result.h"

namespace clvet {
namespace {

using testing::HasSubstr;

const BinaryLabel kLabel{"environment", "program", "Mali-G78", "gemm_tile4x4"};

std::string file_of(const std::string& binary) {
  return binary_file_text(kLabel, std::as_bytes(std::span(binary)));
}

TEST(BinaryFile, GivesBackWhatItWasMadeOf) {
  const std::string text = file_of(std::string("code\0code", 9));
  const auto file = parse_binary_file(text);
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(file->label, kLabel);
  EXPECT_EQ(file->binary, std::string("code\0code", 9));
  EXPECT_EQ(file->hash.size(), 64u);
}

TEST(BinaryFile, RefusesEveryCutFile) {
  const std::string text = file_of("machine code");
  for (size_t size = 0; size < text.size(); ++size) {
    EXPECT_FALSE(parse_binary_file(text.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_binary_file(text + "x")) << "one byte more";
}

TEST(BinaryFile, RefusesAFileOfWhichAnyBitIsAnother) {
  const std::string text = file_of("machine code");
  for (size_t bit = 0; bit < 8 * text.size(); ++bit) {
    std::string flipped = text;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    EXPECT_FALSE(parse_binary_file(flipped)) << "bit " << bit;
  }
}

TEST(BinaryFile, SaysWhatIsWrong) {
  std::string text = file_of("machine code");
  EXPECT_THAT(parse_binary_file("").error().message, HasSubstr("empty"));
  EXPECT_THAT(parse_binary_file("\x7f"
                                "ELF")
                  .error()
                  .message,
              HasSubstr("no program binary"));
  EXPECT_THAT(parse_binary_file(text.substr(0, 90)).error().message, HasSubstr("cut off"));
  text.back() = 'X';
  EXPECT_THAT(parse_binary_file(text).error().message, HasSubstr("not what was saved"));
  text[8] = 2;
  EXPECT_THAT(parse_binary_file(text).error().message, HasSubstr("has version 2"));
}

TEST(BinaryFile, IsNoneWithoutABinary) { EXPECT_FALSE(parse_binary_file(file_of(""))); }

}  // namespace
}  // namespace clvet
