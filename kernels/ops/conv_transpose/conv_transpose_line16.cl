// Transposed convolution, gathered: 16 output channels of one output line an item, 8 pixels of one
// phase, stride_w apart, at a time; such pixels read the same taps of 8 neighbouring input columns.
// Buffers only, for processors with wide SIMD. A tap of half products is one chunk of two quads.
#define CLEAR(i) real16 c##i = (real)0;
#define INSIDE(i) STEP(i, buffer_load4(x, at + i * quads + quad))
#define BORDER(i) \
  if (ix + i >= 0 && ix + i < W) STEP(i, buffer_load4(x, at + i * quads + quad))
#define STEP(i, value)                     \
  {                                        \
    const real4 v = value;                 \
    c##i = madd((real16)(v.s0), w0, c##i); \
    c##i = madd((real16)(v.s1), w1, c##i); \
    c##i = madd((real16)(v.s2), w2, c##i); \
    c##i = madd((real16)(v.s3), w3, c##i); \
  }
#define KEEP(i)               \
  sum[i] += to_float16(c##i); \
  c##i = (real)0;
#if ARITH_HALF
#define KEEP_AFTER(quad)                        \
  if (((quad)&1) != 0 || (quad) + 1 == quads) { \
    EACH_OF_8(KEEP)                             \
  }
#else
#define KEEP_AFTER(quad)
#endif
#define TAP(DO)                           \
  for (int quad = 0; quad < quads; ++quad) { \
    real16 w0, w1, w2, w3;                \
    W_QUAD(0, w0, w1, w2, w3);            \
    EACH_OF_8(DO)                         \
    KEEP_AFTER(quad)                      \
  }
// Up to four channels: the pixels share the activation's vectors.
#define ONE_TEXEL(a, b, c, d) \
  (float16)(sum[a].s0123, sum[b].s0123, sum[c].s0123, sum[d].s0123)
#define STORE_TEXEL(i, v) \
  if (ox + i * stride_w < OW) buffer_store4(y, out * OW + ox + i * stride_w, mask_texel(v, 0, OC));

ALONE __kernel void conv_transpose_line16(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                                          BUFFER_OUT(y), int N, int H, int W, int C, int OC, int KH,
                                          int KW, int stride_h, int stride_w, int pad_top, int pad_left,
                                          int dil_h, int dil_w, int OH, int OW, int act, float act_lo,
                                          float act_hi) {
  const int panel = get_global_id(0);
  const int out = get_global_id(1);
  const int quads = (C + 3) / 4;
  const int quads_o = (OC + 3) / 4;
  if (panel * 4 >= quads_o || out >= N * OH) return;
  W_OPEN(0, panel, KH * KW * quads, (OC + 15) / 16 * 16);
  const w_pos weights = w_at0;
  const float16 bias16 = bias[panel];
  const int groups = (OW + 8 * stride_w - 1) / (8 * stride_w);
  for (int group = 0; group < groups * stride_w; ++group) {
    const int ox = group / stride_w * 8 * stride_w + group % stride_w;
    float16 sum[8];
    for (int i = 0; i < 8; ++i) sum[i] = bias16;
    EACH_OF_8(CLEAR)
    for (int i = 0; i < KH; ++i) {
      const int from_y = out % OH + pad_top - i * dil_h;
      if (from_y < 0 || from_y % stride_h != 0 || from_y / stride_h >= H) continue;
      const int line = (out / OH * H + from_y / stride_h) * W;
      for (int j = 0; j < KW; ++j) {
        const int from_x = ox + pad_left - j * dil_w;
        if (from_x % stride_w != 0) continue;
        const int ix = from_x / stride_w;
        const int at = (line + ix) * quads;
        w_at0 = weights + (i * KW + j) * quads * 4 * w_down0;
        if (ix >= 0 && ix + 7 < W) {
          TAP(INSIDE)
        } else {
          TAP(BORDER)
        }
      }
    }
    EACH_OF_8(KEEP)
    if (quads_o == 1) {
      const float16 v = activate(ONE_TEXEL(0, 1, 2, 3), act, act_lo, act_hi);
      const float16 u = activate(ONE_TEXEL(4, 5, 6, 7), act, act_lo, act_hi);
      STORE_TEXEL(0, v.s0123)
      STORE_TEXEL(1, v.s4567)
      STORE_TEXEL(2, v.s89ab)
      STORE_TEXEL(3, v.scdef)
      STORE_TEXEL(4, u.s0123)
      STORE_TEXEL(5, u.s4567)
      STORE_TEXEL(6, u.s89ab)
      STORE_TEXEL(7, u.scdef)
      continue;
    }
    for (int i = 0; i < 8 && ox + i * stride_w < OW; ++i) {
      const int to = (out * OW + ox + i * stride_w) * quads_o + panel * 4;
      const float16 v = activate(sum[i], act, act_lo, act_hi);
      run_store(y, to, quads_o - panel * 4, v, panel * 4, OC)
    }
  }
}
