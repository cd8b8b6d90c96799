// Depthwise convolution of stride and dilation 1 along a line, zero padding: 4 channels of 4
// neighbouring output pixels an item, so that a texel of x is read once for each line of the filter.
// Row k of the weights is tap k. Products are `real`; a line of the filter is one chunk.
#define NEXT(v)                                                     \
  real4 v = (uint)ix < (uint)W ? load4(x, from) : (real4)(real)0; \
  ++ix;                                                             \
  from += texel_step(quads)
#define TERM(i, v) c##i = madd(v, w0, c##i)

ALONE __kernel void depthwise_line4(ACT_IN(x), W_ARGS, __global const float4* restrict bias, ACT_OUT(y),
                                    int N, int H, int W, int C, int KH, int KW, int stride_h, int pad_top,
                                    int pad_left, int dil_h, int OH, int OW, int act, float act_lo,
                                    float act_hi) {
  const int column = get_global_id(0);
  const int ox = get_global_id(1) * 4;
  const int out = get_global_id(2);
  const int quads = (C + 3) / 4;
  if (column >= quads || ox >= OW || out >= N * OH) return;
  const int iy0 = out % OH * stride_h - pad_top;
  const int ix0 = ox - pad_left;
  const w_pos down = w_pitch((C + 15) / 16 * 16);
  float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (int i = 0; i < KH; ++i) {
    const int iy = iy0 + i * dil_h;
    if (iy < 0 || iy >= H) continue;
    int ix = ix0;
    texel_pos from = texel_at(ix0 * quads + column, out / OH * H + iy, W * quads);
    w_pos at = w_start(column, 0) + i * KW * down;
    NEXT(v0);
    NEXT(v1);
    NEXT(v2);
    CHUNK_BEGIN(c0, sum0);
    CHUNK_BEGIN(c1, sum1);
    CHUNK_BEGIN(c2, sum2);
    CHUNK_BEGIN(c3, sum3);
    for (int j = 0; j < KW; ++j) {
      NEXT(v3);
      const real4 w0 = w_load(at);
      TERM(0, v0);
      TERM(1, v1);
      TERM(2, v2);
      TERM(3, v3);
      v0 = v1;
      v1 = v2;
      v2 = v3;
      at += down;
    }
    CHUNK_END(c0, sum0);
    CHUNK_END(c1, sum1);
    CHUNK_END(c2, sum2);
    CHUNK_END(c3, sum3);
  }
  for (int p = 0; p < 4 && ox + p < OW; ++p) {
    const float4 sum = pick_of_4(p, sum0, sum1, sum2, sum3);
    const float4 v = activate(sum + bias[column], act, act_lo, act_hi);
    store4(y, texel_at((ox + p) * quads + column, out, OW * quads), mask_texel(v, column, C));
  }
}
