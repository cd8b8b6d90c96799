// Convolution of planes, zero padding, for the first layer of a network on a processor: 8 neighbouring
// output pixels of a line an item, 32 channels at a time (kernels/common/tile8x32.clh).
#define INSIDE(i) buffer_load1(x, at + (i)*step)
#define BORDER(i) ((uint)(ix + (i)*step) < (uint)W ? INSIDE(i) : 0.0f)
#define STEP_LEFT(i, value) l##i = madd((float16)(value), a, l##i);
#define STEP_BOTH(i, value)              \
  {                                      \
    const float16 row = (float16)(value); \
    l##i = madd(row, a, l##i);           \
    r##i = madd(row, b, r##i);           \
  }
#define CHANNELS(STEP, READ)                    \
  for (int c = 0; c < C; ++c) {                 \
    const float16 a = w_load(w_at0 + tap + c);  \
    const float16 b = w_load(w_at1 + tap + c);  \
    const int at = line + c * H * pitch + ix;   \
    (void)b;                                    \
    TILE_ROWS(STEP, READ)                       \
  }
#define TAPS(STEP)                                        \
  for (int i = 0; i < KH; ++i) {                          \
    const int iy = iy0 + i * dil_h;                       \
    if (iy < 0 || iy >= H) continue;                      \
    const int line = (image * C * H + iy) * pitch;        \
    for (int j = 0; j < KW; ++j) {                        \
      const int ix = ix0 + j * dil_w;                     \
      const int tap = (i * KW + j) * quads * 4;           \
      if (ix >= 0 && ix + (TILE_HEIGHT - 1) * step < W) { \
        CHANNELS(STEP, INSIDE)                            \
      } else {                                            \
        CHANNELS(STEP, BORDER)                            \
      }                                                   \
    }                                                     \
  }
// A step that the compiler knows stands in the addresses.
#define RUN(STEP)               \
  if (stride_w == 2) {          \
    const int step = 2;         \
    TAPS(STEP)                  \
  } else {                      \
    const int step = stride_w;  \
    TAPS(STEP)                  \
  }

__kernel void conv2d_planes_tile8x32(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                                     BUFFER_OUT(y), int N, int H, int W, int C, int OC, int KH,
                                     int KW, int stride_h, int stride_w, int pad_top, int pad_left,
                                     int dil_h, int dil_w, int OH, int OW, int act, float act_lo,
                                     float act_hi) {
  const int ox = get_global_id(0) * TILE_HEIGHT, out = get_global_id(1);
  const int image = out / OH, iy0 = out % OH * stride_h - pad_top, ix0 = ox * stride_w - pad_left;
  const int pitch = (W + 3) / 4 * 4;
  const int panels = (OC + 15) / 16, quads = (C + 3) / 4, quads_o = (OC + 3) / 4;
  for (int left = 0; left < panels; left += 2) {
    const int right = min(left + 1, panels - 1);
    TILE_OPEN(left, right, panels, KH * KW * quads);
    if (left + 1 < panels) {
      RUN(STEP_BOTH)
    } else {
      RUN(STEP_LEFT)
    }
    TILE_FINISH(left, panels, (out * OW + ox) * quads_o, quads_o, OW - ox, OC)
  }
}
