// Depthwise convolution, zero padding: 16 channels of one output line an item, 8 columns at a time,
// for processors with wide SIMD. The last 16 channels and the last 8 columns are moved back to end
// where the tensor does; what another item or step covers is not stored again. Row k of the weights
// is tap k. Products are `real`; a line of the filter is one chunk.
#define CLEAR(i) real16 c##i = (real)0;
#define INSIDE(i) c##i = madd(buffer_load16(x, at + i * step), taps, c##i);
#define BORDER(i) \
  if (ix + i * stride_w >= 0 && ix + i * stride_w < W) INSIDE(i)
#define NARROW(i)                                                              \
  if (ix + i * stride_w >= 0 && ix + i * stride_w < W) {                       \
    const int t = at + i * step;                                               \
    c##i = madd((real16)(TEXEL(0), TEXEL(1), TEXEL(2), TEXEL(3)), taps, c##i); \
  }
#define TEXEL(k) buffer_load4(x, t + min(k, quads - 1))
#define KEEP(i)               \
  sum[i] += to_float16(c##i); \
  c##i = (real)0;
#define STORE(lanes, k)                                          \
  if (texel + k >= panel * 4 && texel + k < quads) {             \
    buffer_store4(y, to + k, mask_texel(v.lanes, texel + k, C)); \
  }

__kernel void depthwise_line16(BUFFER_IN(x), W_ARGS, __global const float* restrict bias,
                               BUFFER_OUT(y), int N, int H, int W, int C, int KH, int KW,
                               int stride_h, int stride_w, int pad_top, int pad_left, int dil_h,
                               int dil_w, int OH, int OW, int act, float act_lo, float act_hi) {
  const int panel = get_global_id(0);
  const int out = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (panel * 4 >= quads || out >= N * OH) return;
  const int texel = max(min(panel * 4, quads - 4), 0);
  const int whole = texel == panel * 4 && texel * 4 + 16 <= C;
  const int columns = (C + 15) / 16 * 16;
  const int iy0 = out % OH * stride_h - pad_top;
  const int step = stride_w * quads;
  const float16 bias16 = vload16(0, bias + texel * 4);
  for (int from = 0; from < OW; from += 8) {
    const int ox = max(min(from, OW - 8), 0);
    float16 sum[8];
    for (int i = 0; i < 8; ++i) sum[i] = bias16;
    EACH_OF_8(CLEAR)
    for (int i = 0; i < KH; ++i) {
      const int iy = iy0 + i * dil_h;
      if (iy < 0 || iy >= H) continue;
      const int line = (out / OH * H + iy) * W;
      for (int j = 0; j < KW; ++j) {
        const int ix = ox * stride_w - pad_left + j * dil_w;
        const int at = (line + ix) * quads + texel;
        const real16 taps = w_lanes((i * KW + j) * columns + texel * 4);
        if (quads < 4) {
          EACH_OF_8(NARROW)
        } else if (ix >= 0 && ix + 7 * stride_w < W) {
          EACH_OF_8(INSIDE)
        } else {
          EACH_OF_8(BORDER)
        }
      }
#if ARITH_HALF
      EACH_OF_8(KEEP)
#endif
    }
    EACH_OF_8(KEEP)
    for (int i = from - ox; i < min(8, OW - ox); ++i) {
      const int to = (out * OW + ox + i) * quads + texel;
      const float16 v = activate(sum[i], act, act_lo, act_hi);
      if (whole) {
        buffer_store16(y, to, v);
        continue;
      }
      STORE(s0123, 0)
      STORE(s4567, 1)
      STORE(s89ab, 2)
      STORE(scdef, 3)
    }
  }
}
