// Dot products, with the widest vectors of the processor that it runs on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clvet {

// Sum of a[i] * b[i].
float dot_f32(const float* a, const float* b, size_t count);
// A row of blocks of 32 quants against x: sum over blocks of scale * (q . x) + offset * sum of x,
// where `sums` holds the sum of each block of x.
float dot_blocks(const uint8_t* quants, const float* scales, const float* offsets, const float* x,
                 const float* sums, size_t blocks);
// The values that such a row means: scale * q + offset.
void expand_blocks(const uint8_t* quants, const float* scales, const float* offsets, size_t blocks,
                   float* values);

}  // namespace clvet
