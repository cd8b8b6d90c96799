// Transposed convolution whose taps do not overlap (the stride is the filter's size, no padding):
// 8 pixels of one input line by 32 output channels an item (kernels/common/tile8x32.clh), the taps
// one after the other.
#define OPEN_ROW(i) BUFFER_FROM(x##i) = buffer_at(x, (line + min(column + i, W - 1)) * quads);
#define READ(i) buffer_load4(x##i, quad)
#define RUN(QUAD)                              \
  for (int quad = 0; quad < quads; ++quad) { \
    QUAD(READ)                               \
    TILE_KEEP_AFTER(quad, quads)             \
  }

ALONE __kernel void conv_transpose_tile8x32(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                                            BUFFER_OUT(y), int N, int H, int W, int C, int OC, int KH,
                                            int KW, int act, float act_lo, float act_hi) {
  const int panels = (OC + 15) / 16;
  const int left = get_global_id(0) * 2;
  const int right = min(left + 1, panels - 1);
  const int column = get_global_id(1) * 8;
  const int out = get_global_id(2);  // line of x
  const int quads = (C + 3) / 4, quads_o = (OC + 3) / 4;
  if (left >= panels || column >= W || out >= N * H) return;
  const int line = out * W;
  EACH_OF_8(OPEN_ROW)
  for (int tap = 0; tap < KH * KW; ++tap) {
    TILE_OPEN(left, right, panels, KH * KW * quads);
    W_PASS(0, tap * quads);
    W_PASS(1, tap * quads);
    if (left + 1 < panels) {
      RUN(TILE_QUAD)
    } else {
      RUN(TILE_QUAD_LEFT)
    }
    const int from = ((out * KH + tap / KW) * W + column) * KW + tap % KW;
    TILE_FINISH(left, panels, from * quads_o, KW * quads_o, W - column, OC)
  }
}
