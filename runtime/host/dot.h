// Dot products, with the widest vectors of the processor that it runs on.
#pragma once

#include <cstddef>
#include <cstdint>

namespace clvet {

// Sum of a[i] * b[i].
float dot_f32(const float* a, const float* b, size_t count);
// Rows that lie `stride` floats apart.
struct DotRows {
  const float* data = nullptr;
  int64_t rows = 0, stride = 0;
};
// out[i * a_step + j * b_step] = dot product of row i of a and row j of b. What one comes to does
// not hang on how many others there are.
void dots_f32(const DotRows& a, const DotRows& b, size_t count, float* out, int64_t a_step,
              int64_t b_step);
// A row of blocks of 32 quants against x: sum over blocks of scale * (q . x) + offset * sum of x,
// where `sums` holds the sum of each block of x.
float dot_blocks(const uint8_t* quants, const float* scales, const float* offsets, const float* x,
                 const float* sums, size_t blocks);
// The values that such a row means: scale * q + offset.
void expand_blocks(const uint8_t* quants, const float* scales, const float* offsets, size_t blocks,
                   float* values);

}  // namespace clvet
