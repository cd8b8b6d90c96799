// The element types of tensors in GGUF files, a row each, and what their blocks hold.
//
// A row of a tensor is a run of whole blocks. A quantised block falls into groups of consecutive
// elements that share a scale and a minimum: value = scale * q + minimum with q unsigned, exactly
// (scale and minimum have at most 19 significant bits, so float holds them). What each becomes:
//
//   type         q as stored  becomes  group   scale, minimum from
//   Q4_0         4 bit - 8    int4     32      half d;      -8 d
//   Q4_1         4 bit        int4     32      half d, half m
//   Q5_0         5 bit - 16   int8     32      half d;      -16 d
//   Q5_1         5 bit        int8     32      half d, half m
//   Q8_0         signed byte  int8     32      half d;      -128 d
//   Q4_K         4 bit        int4     32      half d * 6 bit, -(half dmin * 6 bit)
//   Q5_K         5 bit        int8     32      the same
//   Q6_K         6 bit - 32   int8     16      half d * signed byte; -32 times that
//
// Scale and minimum of the first five are halves themselves (a minimum below half's range, from
// |d| > 511, cannot come of weights below 65504), so a device that stores them as half is exact
// too. Those of the K types have more bits than a half: stored as half, each is off by at most
// 2^-11 of itself (2^-25 where it is below 2^-14), hence a weight by at most
// 2^-11 * (|scale| * q + |minimum|).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace clvet {

// The bytes of one block taken apart: one quant an element, one scale and minimum a group.
using UnpackBlock = void (*)(const std::byte* block, uint8_t* quants, float* scales,
                             float* minimums);

struct BlockType {
  uint32_t id = 0;        // as files have it
  std::string_view name;  // "Q4_K"
  int64_t elements = 1;   // of one block
  int64_t bytes = 0;      // of one block
  // Float types: one element as float. Exact.
  float (*to_float)(const std::byte* element) = nullptr;
  // Quantised types.
  int bits = 0;       // 4 or 8: what a quant becomes
  int64_t group = 0;  // elements that share scale and minimum
  UnpackBlock unpack = nullptr;

  // False: the type is known by name and size alone.
  bool readable() const { return to_float != nullptr || unpack != nullptr; }
  bool quantised() const { return unpack != nullptr; }
};

// Every type that a file may name, by id; those without `readable()` included.
std::span<const BlockType> block_types();
// nullptr where there is none.
const BlockType* find_block_type(uint32_t id);
const BlockType* find_block_type(std::string_view name);
// "F32, F16, ...": the names of those that can be read.
std::string readable_block_types();

// Elements of `bytes`, which hold whole blocks, as the nearest floats. kUnsupported where the type
// is not readable; kInvalidArgument where the sizes do not fit.
Status dequantize(const BlockType& type, std::span<const std::byte> bytes, std::span<float> out);

}  // namespace clvet
