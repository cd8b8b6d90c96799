// Direct convolution, zero padding: 4 output channels by 4 neighbouring columns an item. Where a tap
// is outside of the image for some of them, each column has a loop of its own: in one loop with the
// conditions, the registers of Mali's GPUs do not suffice. GROUPED: in G groups whose channels come in
// whole texels.
#define BORDER(sum, at_x)                                                \
  w_at0 = w_tap;                                                         \
  if ((at_x) >= 0 && (at_x) < W) {                                       \
    texel_pos at = texel_at((at_x)*texels + first, line, W * texels);    \
    W_SCALE(0, tap);                                                     \
    for (int quad = 0; quad < quads; ++quad) {                           \
      real4 w0, w1, w2, w3;                                              \
      W_NEXT(0, tap + quad)                                              \
      W_QUAD(0, w0, w1, w2, w3);                                         \
      TILE_STEP(sum, load4(x, at));                                      \
      at += texel_step(1);                                               \
    }                                                                    \
  }                                                                      \
  w_at0 = w_tap;                                                         \
  W_PASS(0, quads);

ALONE __kernel void conv2d_tile4x4(ACT_IN(x), W_ARGS, __global const float4* restrict bias, ACT_OUT(y),
                                   int N, int H, int W, int C, int OC, int G, int KH, int KW,
                                   int stride_h, int stride_w, int pad_top, int pad_left, int dil_h,
                                   int dil_w, int OH, int OW, int act, float act_lo, float act_hi) {
  const int column = get_global_id(0);
  const int ox = get_global_id(1) * 4;
  const int out = get_global_id(2);
  const int texels = (C + 3) / 4;
  const int quads = GROUPED ? texels / G : texels;
  const int quads_o = (OC + 3) / 4;
  if (column >= quads_o || ox >= OW || out >= N * OH) return;
  const int first = GROUPED ? column / (quads_o / G) * quads : 0;
  const int iy0 = out % OH * stride_h - pad_top;
  const int ix0 = ox * stride_w - pad_left;
  const int last = min(3, OW - 1 - ox);  // columns beyond it are read there
  W_OPEN(0, column, KH * KW * quads, (OC + 15) / 16 * 16);
  float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (int i = 0; i < KH; ++i) {
    const int iy = iy0 + i * dil_h;
    if (iy < 0 || iy >= H) {
      W_PASS(0, KW * quads);
      continue;
    }
    const int line = out / OH * H + iy;
    for (int j = 0; j < KW; ++j) {
      const int ix = ix0 + j * dil_w;
      const int tap = (i * KW + j) * quads;
      const w_pos w_tap = w_at0;
      if (ix >= 0 && ix + last * stride_w < W) {
        const int step = stride_w * texels;
        texel_pos at = texel_at(ix * texels + first, line, W * texels);
        W_SCALE(0, tap);
        for (int quad = 0; quad < quads; ++quad) {
          real4 w0, w1, w2, w3;
          W_NEXT(0, tap + quad)
          W_QUAD(0, w0, w1, w2, w3);
          TILE_STEP(sum0, load4(x, at));
          TILE_STEP(sum1, load4(x, at + texel_step(min(1, last) * step)));
          TILE_STEP(sum2, load4(x, at + texel_step(min(2, last) * step)));
          TILE_STEP(sum3, load4(x, at + texel_step(last * step)));
          at += texel_step(1);
        }
      } else {
        BORDER(sum0, ix)
        BORDER(sum1, ix + stride_w)
        BORDER(sum2, ix + 2 * stride_w)
        BORDER(sum3, ix + 3 * stride_w)
      }
    }
  }
  TILE_FINISH(ox, 1)
}
