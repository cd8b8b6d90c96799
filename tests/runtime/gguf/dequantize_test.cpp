// Random blocks of every type against loops written from the published layout of the blocks
// (the fields of each, in order), in float64.
#include <gmock/gmock.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/gguf/block_type.h"
#include "runtime/gguf/repack.h"

namespace clvet {
namespace {

using ::testing::HasSubstr;

using Bytes = std::span<const uint8_t>;

// IEEE binary16, from its definition.
double half_at(Bytes block, size_t at) {
  const unsigned bits = block[at] | block[at + 1] << 8;
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = bits & 1023;
  const double value =
      exponent ? std::ldexp(1 + fraction / 1024, exponent - 15) : std::ldexp(fraction, -24);
  return bits & 0x8000 ? -value : value;
}

uint32_t word_at(Bytes block, size_t at) {
  return block[at] | block[at + 1] << 8 | block[at + 2] << 16 |
         static_cast<uint32_t>(block[at + 3]) << 24;
}

// The nibble of element i of 32 in the 16 bytes from `at` on: the first half lies low.
int nibble(Bytes block, size_t at, size_t i) {
  return i < 16 ? block[at + i] & 15 : block[at + i - 16] >> 4;
}

int fifth_bit(Bytes block, size_t at, size_t i) {
  return static_cast<int>(word_at(block, at) >> i & 1) << 4;
}

// half d; 16 bytes of nibbles
double q4_0(Bytes b, size_t i) { return half_at(b, 0) * (nibble(b, 2, i) - 8); }
// half d, half m; 16 bytes
double q4_1(Bytes b, size_t i) { return half_at(b, 0) * nibble(b, 4, i) + half_at(b, 2); }
// half d; 32 bits; 16 bytes
double q5_0(Bytes b, size_t i) {
  return half_at(b, 0) * ((nibble(b, 6, i) | fifth_bit(b, 2, i)) - 16);
}
// half d, half m; 32 bits; 16 bytes
double q5_1(Bytes b, size_t i) {
  return half_at(b, 0) * (nibble(b, 8, i) | fifth_bit(b, 4, i)) + half_at(b, 2);
}
// half d; 32 signed bytes
double q8_0(Bytes b, size_t i) { return half_at(b, 0) * static_cast<int8_t>(b[2 + i]); }

// Scale and minimum of group j in the 12 bytes from `at` on.
struct Six {
  int scale, minimum;
};
Six six_bits(Bytes b, size_t at, size_t j) {
  if (j < 4) return {b[at + j] & 63, b[at + j + 4] & 63};
  return {(b[at + j + 4] & 15) | (b[at + j - 4] >> 6) << 4, (b[at + j + 4] >> 4) | (b[at + j] >> 6)
                                                                                       << 4};
}

// half d, half dmin; 12 bytes of scales; 128 bytes: of 64 elements the first 32 lie low.
double q4_k(Bytes b, size_t i) {
  const uint8_t byte = b[16 + i / 64 * 32 + i % 32];
  const Six six = six_bits(b, 4, i / 32);
  return half_at(b, 0) * six.scale * (i % 64 < 32 ? byte & 15 : byte >> 4) -
         half_at(b, 2) * six.minimum;
}
// half d, half dmin; 12 bytes of scales; 32 bytes with a bit for each group of 32; 128 bytes
double q5_k(Bytes b, size_t i) {
  const uint8_t byte = b[48 + i / 64 * 32 + i % 32];
  const int high = (b[16 + i % 32] >> (i / 32) & 1) << 4;
  const Six six = six_bits(b, 4, i / 32);
  return half_at(b, 0) * six.scale * ((i % 64 < 32 ? byte & 15 : byte >> 4) | high) -
         half_at(b, 2) * six.minimum;
}
// 128 bytes of low nibbles, 64 of two high bits, 16 signed scales, half d; in halves of 128
double q6_k(Bytes b, size_t i) {
  const size_t half = i / 128, in_half = i % 128, run = in_half / 32, l = in_half % 32;
  const uint8_t low = b[half * 64 + l + (run % 2) * 32];
  const int four = run < 2 ? low & 15 : low >> 4;
  const int two = b[128 + half * 32 + l] >> (2 * run) & 3;
  const auto scale = static_cast<int8_t>(b[192 + half * 8 + run * 2 + l / 16]);
  return half_at(b, 208) * scale * ((four | two << 4) - 32);
}
double f16(Bytes b, size_t) { return half_at(b, 0); }
double f32(Bytes b, size_t) { return static_cast<double>(std::bit_cast<float>(word_at(b, 0))); }
double bf16(Bytes b, size_t) {
  return static_cast<double>(std::bit_cast<float>(static_cast<uint32_t>(b[0] | b[1] << 8) << 16));
}

struct Layout {
  const char* name;
  size_t elements, bytes;
  double (*value)(Bytes, size_t);
  std::vector<size_t> halves;  // where scales lie
};

const Layout kLayouts[] = {
    {"F32", 1, 4, f32, {}},           {"F16", 1, 2, f16, {0}},
    {"BF16", 1, 2, bf16, {}},         {"Q4_0", 32, 18, q4_0, {0}},
    {"Q4_1", 32, 20, q4_1, {0, 2}},   {"Q5_0", 32, 22, q5_0, {0}},
    {"Q5_1", 32, 24, q5_1, {0, 2}},   {"Q8_0", 32, 34, q8_0, {0}},
    {"Q4_K", 256, 144, q4_k, {0, 2}}, {"Q5_K", 256, 176, q5_k, {0, 2}},
    {"Q6_K", 256, 210, q6_k, {208}},
};

class RandomBlocks : public ::testing::TestWithParam<Layout> {
 protected:
  // Blocks of random bytes; scales and floats are finite.
  std::vector<uint8_t> blocks(size_t count) const {
    const Layout& layout = GetParam();
    std::mt19937 random(static_cast<uint32_t>(layout.bytes));
    std::vector<uint8_t> bytes(count * layout.bytes);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    for (size_t block = 0; block < count; ++block) {
      uint8_t* at = bytes.data() + block * layout.bytes;
      for (const size_t half : layout.halves) {
        if ((at[half + 1] & 0x7c) == 0x7c) at[half + 1] &= 0xbf;
      }
      if (layout.elements == 1 && layout.halves.empty()) at[layout.bytes - 1] &= 0xbe;
    }
    return bytes;
  }
  const BlockType& type() const { return *find_block_type(GetParam().name); }
};

TEST_P(RandomBlocks, AreTheNearestFloatsOfWhatTheLayoutSays) {
  const Layout& layout = GetParam();
  constexpr size_t kBlocks = 64;
  const std::vector<uint8_t> bytes = blocks(kBlocks);
  std::vector<float> got(kBlocks * layout.elements);
  ASSERT_TRUE(dequantize(type(), std::as_bytes(std::span(bytes)), got));
  for (size_t i = 0; i < got.size(); ++i) {
    const Bytes block = Bytes(bytes).subspan(i / layout.elements * layout.bytes, layout.bytes);
    // d * q and d * m have at most 11 + 6 + 8 bits: exact in double, so rounded once.
    ASSERT_EQ(got[i], static_cast<float>(layout.value(block, i % layout.elements)))
        << layout.name << " element " << i;
  }
}

TEST_P(RandomBlocks, AreTheSameOnceRepacked) {
  const Layout& layout = GetParam();
  if (!type().quantised()) return;
  const std::vector<uint8_t> bytes = blocks(6);
  const auto columns = static_cast<int64_t>(2 * layout.elements);
  const auto weights = repack(type(), std::as_bytes(std::span(bytes)), 3, columns);
  ASSERT_TRUE(weights) << weights.error().message;
  for (size_t i = 0; i < 6 * layout.elements; ++i) {
    const Bytes block = Bytes(bytes).subspan(i / layout.elements * layout.bytes, layout.bytes);
    const size_t group = i / static_cast<size_t>(weights->block);
    const double value = static_cast<double>(weights->scales[group]) * weights->quants[i] +
                         static_cast<double>(weights->minimums[group]);
    ASSERT_EQ(value, layout.value(block, i % layout.elements)) << layout.name << " element " << i;
  }
}

TEST_P(RandomBlocks, HaveTheSizesOfThePublishedFormat) {
  EXPECT_EQ(type().elements, static_cast<int64_t>(GetParam().elements));
  EXPECT_EQ(type().bytes, static_cast<int64_t>(GetParam().bytes));
  EXPECT_TRUE(type().readable());
  EXPECT_THAT(readable_block_types(), HasSubstr(GetParam().name));
}

TEST_P(RandomBlocks, AreRefusedWhereTheyAreNotWhole) {
  const Layout& layout = GetParam();
  const std::vector<uint8_t> bytes = blocks(2);
  std::vector<float> out(2 * layout.elements);
  for (const size_t length : {size_t{0}, layout.bytes, bytes.size() - 1}) {
    const Status done = dequantize(type(), std::as_bytes(Bytes(bytes).first(length)), out);
    ASSERT_FALSE(done) << length;
    EXPECT_EQ(done.error().code, ErrorCode::kInvalidArgument);
    EXPECT_THAT(done.error().message, HasSubstr(layout.name));
  }
  EXPECT_TRUE(dequantize(type(), {}, {})) << "nothing is no fault";
}

INSTANTIATE_TEST_SUITE_P(All, RandomBlocks, ::testing::ValuesIn(kLayouts),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(FloatBlocks, KeepInfinitiesNanAndSubnormals) {
  const auto read = [](std::string_view type, std::vector<uint8_t> bytes) {
    float value = 0;
    EXPECT_TRUE(dequantize(*find_block_type(type), std::as_bytes(std::span(bytes)),
                           std::span<float>(&value, 1)));
    return value;
  };
  EXPECT_EQ(read("F16", {0x00, 0x7c}), INFINITY);
  EXPECT_EQ(read("F16", {0x00, 0xfc}), -INFINITY);
  EXPECT_TRUE(std::isnan(read("F16", {0x01, 0x7c})));
  EXPECT_EQ(read("F16", {0x01, 0x00}), std::ldexp(1.f, -24));
  EXPECT_EQ(read("BF16", {0x80, 0x7f}), INFINITY);
  EXPECT_TRUE(std::isnan(read("BF16", {0xc0, 0xff})));
  EXPECT_EQ(read("BF16", {0x01, 0x00}), std::ldexp(1.f, -133));
  EXPECT_TRUE(std::signbit(read("F32", {0, 0, 0, 0x80})));
  EXPECT_EQ(read("F32", {1, 0, 0, 0}), std::ldexp(1.f, -149));
}

TEST(Repack, RefusesExtentsWhoseProductOverflows) {
  const std::vector<std::byte> bytes(34);
  for (const int64_t rows : {INT64_MAX, INT64_MAX / 34, int64_t{1} << 60}) {
    const auto weights = repack(*find_block_type("Q8_0"), bytes, rows, int64_t{1} << 40);
    ASSERT_FALSE(weights) << rows;
    EXPECT_EQ(weights.error().code, ErrorCode::kInvalidArgument);
  }
  EXPECT_THAT(repack(*find_block_type("F32"), bytes, 1, 1).error().message,
              HasSubstr("no quantised blocks"));
}

}  // namespace
}  // namespace clvet
