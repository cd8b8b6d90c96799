// Dot products, with the widest vectors of the processor that it runs on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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
// A row of blocks of 32 quants, each with a scale and an offset: scale * q + offset. A quant is a
// byte, or with `nibbles` half of one, as pack_nibbles() leaves them.
struct BlockRow {
  const uint8_t* quants = nullptr;
  const float *scales = nullptr, *offsets = nullptr;
  bool nibbles = false;
};
// A row against x: sum over blocks of scale * (q . x) + offset * sum of x, where `sums` holds the
// sum of each block of x.
float dot_blocks(const BlockRow& row, const float* x, const float* sums, size_t blocks);
// The values that a row means.
void expand_blocks(const BlockRow& row, size_t blocks, float* values);
// From blocks of 32 quants of 4 bits, one a byte, to blocks of 16 bytes: the lower half of byte i
// holds quant i, the upper one quant i + 16.
void pack_nibbles(std::vector<uint8_t>& quants);

}  // namespace clvet
