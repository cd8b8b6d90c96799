// Quantised tensors taken apart into what the kernels' block weights are made of, without loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "kernels/combination.h"
#include "runtime/gguf/block_type.h"

namespace clvet {

// A matrix of `rows` outputs by `columns` inputs, row by row as a GGUF file has it. Each `block`
// consecutive columns of a row share a scale and a minimum:
//   weight = scale * q + minimum, exactly the number that the file means
// (kernels/layout.h calls the minimum the offset, and sees the matrix transposed: its k is our
// column, its column our row). kernels/layout.h has blocks of 32; `block` may also be 16.
struct BlockWeights {
  int64_t rows = 0, columns = 0;
  WeightType type = WeightType::kInt8;  // kInt4: q is 0 to 15; kInt8: 0 to 255
  int64_t block = 0;
  std::vector<uint8_t> quants;          // [rows][columns], one a byte
  std::vector<float> scales, minimums;  // [rows][columns / block]
};

// The word of kernels/combination.h that a type is packed as: kFloat for float types.
WeightType weight_type_of(const BlockType& type);

// `bytes` hold rows * columns elements. kUnsupported: not a quantised type; kInvalidArgument: the
// sizes do not fit each other or rows are not whole blocks.
Result<BlockWeights> repack(const BlockType& type, std::span<const std::byte> bytes, int64_t rows,
                            int64_t columns);

}  // namespace clvet
