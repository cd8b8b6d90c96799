// y[N] = act(x[K] * w + bias), 4 columns an item, for any device and storage.
#define QUAD                                            \
  {                                                     \
    real4 w0, w1, w2, w3;                               \
    W_QUAD(0, w0, w1, w2, w3);                          \
    const real4 v = load4(x, texel_at(quad, 0, quads)); \
    chunk = madd((real4)(v.s0), w0, chunk);             \
    chunk = madd((real4)(v.s1), w1, chunk);             \
    chunk = madd((real4)(v.s2), w2, chunk);             \
    chunk = madd((real4)(v.s3), w3, chunk);             \
    ++quad;                                             \
  }

ALONE __kernel void gemv_col4(ACT_IN(x), W_ARGS, __global const float4* restrict bias, ACT_OUT(y), int N,
                              int K, int act, float act_lo, float act_hi) {
  const int column = get_global_id(0);
  const int quads = (K + 3) / 4;
  const int quads_n = (N + 3) / 4;
  if (column >= quads_n) return;
  W_OPEN(0, column, quads, (N + 15) / 16 * 16);
  float4 sum = bias[column];
  for (int block = 0; block < quads; block += 8) {
    const int end = min(block + 8, quads);
    W_BLOCK(0);
    for (int quad = block; quad < end;) {
      CHUNK_BEGIN(chunk, sum);
      QUAD;
#if CHUNK_QUADS == 2
      if (quad < end) {
        QUAD;
      }
#endif
      CHUNK_END(chunk, sum);
    }
  }
  const float4 v = activate(sum, act, act_lo, act_hi);
  store4(y, texel_at(column, 0, quads_n), mask_texel(v, column, N));
}
