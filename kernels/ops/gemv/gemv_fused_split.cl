// What kernels/reference/gemv_fused.cpp says of one row: a group of COLUMNS by SLICES items, or
// twice as many where `gated`, computes COLUMNS texels of y; its items share the blocks of 32 rows
// of k, and the squares of x on the way.
#define QUAD                             \
  {                                      \
    float4 w0, w1, w2, w3;               \
    W_QUAD(0, w0, w1, w2, w3);           \
    float4 v = buffer_load4(x, quad);    \
    if (norm) {                          \
      square = madd(v, v, square);       \
      v *= scale[quad];                  \
    }                                    \
    sum = madd((float4)(v.s0), w0, sum); \
    sum = madd((float4)(v.s1), w1, sum); \
    sum = madd((float4)(v.s2), w2, sum); \
    sum = madd((float4)(v.s3), w3, sum); \
  }

__kernel void gemv_fused_split(BUFFER_IN(x), __global const float4* restrict scale, W_ARGS,
                               __global const float4* restrict bias, BUFFER_IN(r), BUFFER_OUT(y),
                               int N, int K, int norm, int gated, int add, int biased, int act,
                               float act_lo, float act_hi, float epsilon) {
  __local float4 sums[2 * SLICES * COLUMNS];
  __local float squares[2 * SLICES * COLUMNS];
  const int slice = get_local_id(1);
  const int part = get_local_id(2);
  const int texel = get_global_id(0);
  const int quads = (K + 3) / 4;
  const int quads_y = ((gated ? N / 2 : N) + 3) / 4;
  const int column = part * quads_y + texel;
  float4 sum = 0.0f, square = 0.0f;
  if (texel < quads_y) {
    W_OPEN(0, column, quads, (N + 15) / 16 * 16);
    W_SKIP(0, slice * 8);
    for (int block = slice * 8; block < quads; block += SLICES * 8) {
      const int end = min(block + 8, quads);
      W_BLOCK(0);
      if (end - block == 8) {
        // The loads of a whole block are on their way at once.
        _Pragma("unroll") for (int i = 0; i < 8; ++i) {
          const int quad = block + i;
          QUAD
        }
      } else {
        for (int quad = block; quad < end; ++quad) QUAD
      }
      W_SKIP(0, (SLICES - 1) * 8);
    }
  }
  const int own = part * SLICES * COLUMNS + get_local_id(0);
  const int place = own + slice * COLUMNS;
  sums[place] = sum;
  squares[place] = sum_of4(square);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = SLICES / 2; step > 0; step /= 2) {
    if (slice < step) {
      sums[place] += sums[place + step * COLUMNS];
      squares[place] += squares[place + step * COLUMNS];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (slice > 0 || part > 0 || texel >= quads_y) return;
  const float factor = norm ? 1.0f / sqrt(squares[own] / (float)K + epsilon) : 1.0f;
  float4 v = sums[own] * factor, up = gated ? sums[own + SLICES * COLUMNS] * factor : 1.0f;
  if (biased) {
    v += bias[texel];
    if (gated) up += bias[quads_y + texel];
  }
  v = activate(v, act, act_lo, act_hi) * up;
  if (add) v += to_float4(buffer_load4(r, texel));
  buffer_store4(y, texel, mask_texel(v, texel, gated ? N / 2 : N));
}
