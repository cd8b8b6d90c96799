// Convolution of planes, zero padding, for the first layer of a network on a processor: 8 neighbouring
// output pixels of a line an item, 32 channels at a time (kernels/common/tile8x32.clh). Only tiles at the
// left and the right border ask which of their taps lie inside.
#define INSIDE(i) tap_x[(i)*step]
#define BORDER(i) ((uint)(ix0 + j * dil_w + (i)*step) < (uint)W ? tap_x[(i)*step] : 0.0f)
#define STEP_LEFT(i, value) l##i = madd((float16)(value), a, l##i);
#define STEP_BOTH(i, value)               \
  {                                       \
    const float16 row = (float16)(value); \
    l##i = madd(row, a, l##i);            \
    r##i = madd(row, b, r##i);            \
  }
#define TAPS(STEP, READ)                                           \
  for (int i = 0; i < KH; ++i) {                                   \
    const int iy = iy0 + i * dil_h;                                \
    if (iy < 0 || iy >= H) continue;                               \
    for (int c = 0; c < C; ++c) {                                  \
      __global const float* tap_x = corner + (c * H + iy) * pitch; \
      int tap = i * KW * quads * 4 + c;                            \
      for (int j = 0; j < KW; ++j) {                               \
        const float16 a = w_load(w_at0 + tap * w_down0);           \
        const float16 b = w_load(w_at1 + tap * w_down1);           \
        (void)b;                                                   \
        TILE_ROWS(STEP, READ)                                      \
        tap_x += dil_w;                                            \
        tap += quads * 4;                                          \
      }                                                            \
    }                                                              \
  }
// A step that the compiler knows stands in the addresses.
#define RUN(STEP)              \
  if (stride_w == 2) {         \
    const int step = 2;        \
    TAPS(STEP, INSIDE)         \
  } else {                     \
    const int step = stride_w; \
    TAPS(STEP, INSIDE)         \
  }

ALONE __kernel void conv2d_planes_tile8x32(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                                           BUFFER_OUT(y), int N, int H, int W, int C, int OC, int KH,
                                           int KW, int stride_h, int stride_w, int pad_top, int pad_left,
                                           int dil_h, int dil_w, int OH, int OW, int act, float act_lo,
                                           float act_hi) {
  const int ox = get_global_id(0) * TILE_HEIGHT, out = get_global_id(1);
  const int image = out / OH, iy0 = (out - image * OH) * stride_h - pad_top;
  const int ix0 = ox * stride_w - pad_left;
  const int inside = ix0 >= 0 && ix0 + (TILE_HEIGHT - 1) * stride_w + (KW - 1) * dil_w < W;
  const int pitch = (W + 3) / 4 * 4;
  __global const float* corner = (__global const float*)x + image * C * H * pitch + ix0;
  const int panels = (OC + 15) / 16, quads = (C + 3) / 4, quads_o = (OC + 3) / 4;
  for (int left = 0; left < panels; left += 2) {
    const int right = min(left + 1, panels - 1);
    TILE_OPEN(left, right, panels, KH * KW * quads);
    if (!inside) {
      const int step = stride_w;
      TAPS(STEP_BOTH, BORDER)
    } else if (left + 1 < panels) {
      RUN(STEP_BOTH)
    } else {
      RUN(STEP_LEFT)
    }
    TILE_FINISH(left, panels, (out * OW + ox) * quads_o, quads_o, OW - ox, OC)
  }
}
