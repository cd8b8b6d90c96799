// y[N] = act(x[K] * w + bias) where one row is too little work for a wide processor: a group of
// COLUMNS by SLICES items computes COLUMNS texels of y, and its items share the blocks of 32 rows of k.
#define QUAD                                   \
  {                                            \
    real4 w0, w1, w2, w3;                      \
    W_QUAD(0, w0, w1, w2, w3);                 \
    const real4 v = load4(x, texel_at(quad, 0, quads)); \
    chunk = madd((real4)(v.s0), w0, chunk);    \
    chunk = madd((real4)(v.s1), w1, chunk);    \
    chunk = madd((real4)(v.s2), w2, chunk);    \
    chunk = madd((real4)(v.s3), w3, chunk);    \
  }

__kernel void gemv_split(ACT_IN(x), W_ARGS, __global const float4* restrict bias, ACT_OUT(y), int N,
                         int K, int act, float act_lo, float act_hi) {
  __local float4 sums[SLICES * COLUMNS];
  const int own = get_local_id(0);
  const int slice = get_local_id(1);
  const int column = get_global_id(0);
  const int quads = (K + 3) / 4;
  const int quads_n = (N + 3) / 4;
  float4 sum = 0.0f;
  if (column < quads_n) {
    W_OPEN(0, column, quads, (N + 15) / 16 * 16);
    W_SKIP(0, slice * 8);
    for (int block = slice * 8; block < quads; block += SLICES * 8) {
      const int end = min(block + 8, quads);
      W_BLOCK(0);
      for (int quad = block; quad < end; ++quad) {
        CHUNK_BEGIN(chunk, sum);
        QUAD
        CHUNK_END(chunk, sum);
      }
      W_SKIP(0, (SLICES - 1) * 8);
    }
  }
  const int place = slice * COLUMNS + own;
  sums[place] = sum;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (int step = SLICES / 2; step > 0; step /= 2) {
    if (slice < step) sums[place] += sums[place + step * COLUMNS];
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (slice > 0 || column >= quads_n) return;
  const float4 v = activate(sums[own] + bias[column], act, act_lo, act_hi);
  store4(y, texel_at(column, 0, quads_n), mask_texel(v, column, N));
}
