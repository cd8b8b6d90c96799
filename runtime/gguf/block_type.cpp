#include "runtime/gguf/block_type.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/bfloat.h"
#include "base/half.h"
#include "base/numbers.h"
#include "base/result.h"

namespace clvet {
namespace {

float read_half(const std::byte* at) { return half_to_float(load<uint16_t>(at)); }
unsigned byte_at(const std::byte* at, int index) { return static_cast<unsigned>(at[index]); }
uint8_t low_nibble(const std::byte* at, int index) { return byte_at(at, index) & 15; }
uint8_t high_nibble(const std::byte* at, int index) { return byte_at(at, index) >> 4; }

float f32_to_float(const std::byte* at) { return load<float>(at); }
float f16_to_float(const std::byte* at) { return read_half(at); }
float bf16_to_float(const std::byte* at) { return bfloat_to_float(load<uint16_t>(at)); }

// 16 bytes: the first half of the elements in the low nibbles, the second in the high ones.
void unpack_nibbles(const std::byte* packed, uint8_t* quants) {
  for (int i = 0; i < 16; ++i) {
    quants[i] = low_nibble(packed, i);
    quants[i + 16] = high_nibble(packed, i);
  }
}

// The fifth bit of element i is bit i of a 32-bit word.
void add_fifth_bits(const std::byte* word, uint8_t* quants) {
  const auto bits = load<uint32_t>(word);
  for (int i = 0; i < 32; ++i) quants[i] = static_cast<uint8_t>(quants[i] | (bits >> i & 1) << 4);
}

void unpack_q4_0(const std::byte* block, uint8_t* quants, float* scales, float* minimums) {
  unpack_nibbles(block + 2, quants);
  scales[0] = read_half(block);
  minimums[0] = -8.f * scales[0];
}

void unpack_q4_1(const std::byte* block, uint8_t* quants, float* scales, float* minimums) {
  unpack_nibbles(block + 4, quants);
  scales[0] = read_half(block);
  minimums[0] = read_half(block + 2);
}

void unpack_q5_0(const std::byte* block, uint8_t* quants, float* scales, float* minimums) {
  unpack_nibbles(block + 6, quants);
  add_fifth_bits(block + 2, quants);
  scales[0] = read_half(block);
  minimums[0] = -16.f * scales[0];
}

void unpack_q5_1(const std::byte* block, uint8_t* quants, float* scales, float* minimums) {
  unpack_nibbles(block + 8, quants);
  add_fifth_bits(block + 4, quants);
  scales[0] = read_half(block);
  minimums[0] = read_half(block + 2);
}

void unpack_q8_0(const std::byte* block, uint8_t* quants, float* scales, float* minimums) {
  for (int i = 0; i < 32; ++i) quants[i] = static_cast<uint8_t>(byte_at(block, 2 + i) ^ 0x80);
  scales[0] = read_half(block);
  minimums[0] = -128.f * scales[0];
}

// The 12 bytes of Q4_K and Q5_K: 8 scales and 8 minimums of 6 bits. The first four of each lie in
// the low bits of bytes 0 to 7; the others have their low nibble in bytes 8 to 11 and their two
// high bits in the high bits of those first eight.
void unpack_k_scales(const std::byte* block, float* scales, float* minimums) {
  const float d = read_half(block), dmin = read_half(block + 2);
  const std::byte* packed = block + 4;
  for (int i = 0; i < 4; ++i) {
    const unsigned a = byte_at(packed, i), b = byte_at(packed, i + 4), c = byte_at(packed, i + 8);
    scales[i] = d * static_cast<float>(a & 63);
    minimums[i] = -dmin * static_cast<float>(b & 63);
    scales[i + 4] = d * static_cast<float>((c & 15) | (a >> 6 << 4));
    minimums[i + 4] = -dmin * static_cast<float>(c >> 4 | (b >> 6 << 4));
  }
}

// 32 bytes hold two groups: the low nibbles, then the high ones.
void unpack_k_nibbles(const std::byte* packed, uint8_t* quants) {
  for (int pair = 0; pair < 4; ++pair) {
    for (int i = 0; i < 32; ++i) {
      quants[pair * 64 + i] = low_nibble(packed, pair * 32 + i);
      quants[pair * 64 + 32 + i] = high_nibble(packed, pair * 32 + i);
    }
  }
}

void unpack_q4_k(const std::byte* block, uint8_t* quants, float* scales, float* minimums) {
  unpack_k_scales(block, scales, minimums);
  unpack_k_nibbles(block + 16, quants);
}

// The fifth bit of element i of group g is bit g of byte i.
void unpack_q5_k(const std::byte* block, uint8_t* quants, float* scales, float* minimums) {
  unpack_k_scales(block, scales, minimums);
  unpack_k_nibbles(block + 48, quants);
  for (int g = 0; g < 8; ++g) {
    for (int i = 0; i < 32; ++i) {
      const unsigned bit = byte_at(block, 16 + i) >> g & 1;
      quants[g * 32 + i] = static_cast<uint8_t>(quants[g * 32 + i] | bit << 4);
    }
  }
}

// Two halves of 128 elements, each in four runs of 32: the low nibbles of runs 0 and 1 are the low
// nibbles of 64 bytes, those of runs 2 and 3 the high ones; the two bits above them lie in 32
// bytes, run r in bits 2r and 2r + 1.
void unpack_q6_k(const std::byte* block, uint8_t* quants, float* scales, float* minimums) {
  const float d = read_half(block + 208);
  for (int half = 0; half < 2; ++half) {
    const std::byte* low = block + half * 64;
    const std::byte* high = block + 128 + half * 32;
    for (int run = 0; run < 4; ++run) {
      for (int i = 0; i < 32; ++i) {
        const int at = run % 2 * 32 + i;
        const unsigned nibble = run < 2 ? low_nibble(low, at) : high_nibble(low, at);
        const unsigned top = byte_at(high, i) >> (2 * run) & 3;
        quants[half * 128 + run * 32 + i] = static_cast<uint8_t>(nibble | top << 4);
      }
    }
  }
  for (int g = 0; g < 16; ++g) {
    scales[g] = d * static_cast<float>(load<int8_t>(block + 192 + g));
    minimums[g] = -32.f * scales[g];
  }
}

constexpr BlockType floats(uint32_t id, std::string_view name, int64_t bytes,
                           float (*to_float)(const std::byte*)) {
  return {id, name, 1, bytes, to_float, 0, 0, nullptr};
}
constexpr BlockType quants(uint32_t id, std::string_view name, int64_t elements, int64_t bytes,
                           int bits, int64_t group, UnpackBlock unpack) {
  return {id, name, elements, bytes, nullptr, bits, group, unpack};
}
// Known by name, so that a check can say which type it is and how much of it there is.
constexpr BlockType foreign(uint32_t id, std::string_view name, int64_t elements, int64_t bytes) {
  return {id, name, elements, bytes, nullptr, 0, 0, nullptr};
}

constexpr BlockType kBlockTypes[] = {
    floats(0, "F32", 4, f32_to_float),
    floats(1, "F16", 2, f16_to_float),
    quants(2, "Q4_0", 32, 18, 4, 32, unpack_q4_0),
    quants(3, "Q4_1", 32, 20, 4, 32, unpack_q4_1),
    quants(6, "Q5_0", 32, 22, 8, 32, unpack_q5_0),
    quants(7, "Q5_1", 32, 24, 8, 32, unpack_q5_1),
    quants(8, "Q8_0", 32, 34, 8, 32, unpack_q8_0),
    foreign(9, "Q8_1", 32, 36),
    foreign(10, "Q2_K", 256, 84),
    foreign(11, "Q3_K", 256, 110),
    quants(12, "Q4_K", 256, 144, 4, 32, unpack_q4_k),
    quants(13, "Q5_K", 256, 176, 8, 32, unpack_q5_k),
    quants(14, "Q6_K", 256, 210, 8, 16, unpack_q6_k),
    foreign(15, "Q8_K", 256, 292),
    foreign(16, "IQ2_XXS", 256, 66),
    foreign(17, "IQ2_XS", 256, 74),
    foreign(18, "IQ3_XXS", 256, 98),
    foreign(19, "IQ1_S", 256, 50),
    foreign(20, "IQ4_NL", 32, 18),
    foreign(21, "IQ3_S", 256, 110),
    foreign(22, "IQ2_S", 256, 82),
    foreign(23, "IQ4_XS", 256, 136),
    foreign(24, "I8", 1, 1),
    foreign(25, "I16", 1, 2),
    foreign(26, "I32", 1, 4),
    foreign(27, "I64", 1, 8),
    foreign(28, "F64", 1, 8),
    foreign(29, "IQ1_M", 256, 56),
    floats(30, "BF16", 2, bf16_to_float),
    foreign(34, "TQ1_0", 256, 54),
    foreign(35, "TQ2_0", 256, 66),
    foreign(39, "MXFP4", 32, 17),
};

constexpr int64_t kMaxElements = 256, kMaxGroups = 16;

void dequantize_blocks(const BlockType& type, const std::byte* block, std::span<float> out) {
  std::array<uint8_t, kMaxElements> quants;
  std::array<float, kMaxGroups> scales, minimums;
  const auto elements = static_cast<size_t>(type.elements), group = static_cast<size_t>(type.group);
  for (size_t at = 0; at < out.size(); at += elements, block += type.bytes) {
    type.unpack(block, quants.data(), scales.data(), minimums.data());
    for (size_t first = 0; first < elements; first += group) {
      const double scale = scales[first / group], minimum = minimums[first / group];
      const uint8_t* numbers = quants.data() + first;
      float* values = out.data() + at + first;
      // Exact in double, so rounded once.
      for (size_t i = 0; i < group; ++i)
        values[i] = static_cast<float>(scale * numbers[i] + minimum);
    }
  }
}

}  // namespace

std::span<const BlockType> block_types() { return kBlockTypes; }

const BlockType* find_block_type(uint32_t id) {
  for (const BlockType& type : kBlockTypes) {
    if (type.id == id) return &type;
  }
  return nullptr;
}

const BlockType* find_block_type(std::string_view name) {
  for (const BlockType& type : kBlockTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::string readable_block_types() {
  std::string names;
  for (const BlockType& type : kBlockTypes) {
    if (!type.readable()) continue;
    names += (names.empty() ? "" : ", ") + std::string(type.name);
  }
  return names;
}

Status dequantize(const BlockType& type, std::span<const std::byte> bytes, std::span<float> out) {
  if (!type.readable()) {
    return fail(ErrorCode::kUnsupported, "clvet cannot read the tensor type {}; it can read {}",
                type.name, readable_block_types());
  }
  const auto elements = static_cast<size_t>(type.elements);
  if (out.size() % elements != 0 ||
      bytes.size() != out.size() / elements * static_cast<size_t>(type.bytes)) {
    return fail(ErrorCode::kInvalidArgument, "{} bytes of {} do not make {} elements", bytes.size(),
                type.name, out.size());
  }
  if (type.quantised()) {
    dequantize_blocks(type, bytes.data(), out);
    return {};
  }
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = type.to_float(bytes.data() + i * static_cast<size_t>(type.bytes));
  }
  return {};
}

}  // namespace clvet
