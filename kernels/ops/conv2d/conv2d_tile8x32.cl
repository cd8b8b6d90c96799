// Direct convolution, zero padding: 8 output pixels in reading order by 32 output channels an item
// (kernels/common/tile8x32.clh). A tap that lies inside the image for all 8 pixels, which is nearly
// every one, is read without a question. Of G groups, each with whole texels of input channels and
// whole panels of output channels where there is more than one, an item's columns are of one. Items
// that are neighbours share the larger one of x and w.
#define OPEN_ROW(i) const int at##i = at.s##i;
#define OPEN_TAP(i) const int tap##i = at##i + offset;
#define INSIDE(i) buffer_load4(x, tap##i + quad)
#define BORDER(i) (inside.s##i != 0 ? buffer_load4(x, tap##i + quad) : (real4)(real)0)
#define RUN(QUAD, READ)                      \
  W_SCALE(0, tap);                           \
  W_SCALE(1, tap);                           \
  for (int quad = 0; quad < quads; ++quad) { \
    W_NEXT(0, tap + quad)                    \
    W_NEXT(1, tap + quad)                    \
    QUAD(READ)                               \
    TILE_ASK(tap + quad)                     \
    TILE_KEEP_AFTER(quad, quads)             \
  }

ALONE __kernel void conv2d_tile8x32(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                                    BUFFER_OUT(y), int N, int H, int W, int C, int OC, int G, int KH,
                                    int KW, int stride_h, int stride_w, int pad_top, int pad_left,
                                    int dil_h, int dil_w, int OH, int OW, int act, float act_lo,
                                    float act_hi) {
  const int panels = (OC + 15) / 16;
  const int rows = N * OH * OW;
  TILE_IDS(rows < OC * KH * KW)
  const int tiles = (panels / G + 1) / 2;  // of a group
  const int group = tile_column / tiles;
  const int left = group * (panels / G) + (tile_column - group * tiles) * 2;
  const int end = (group + 1) * (panels / G);
  const int right = min(left + 1, end - 1);
  const int pair = left + 1 < end;
  const int row = tile_row * 8;
  const int texels = (C + 3) / 4, quads = texels / G, quads_o = (OC + 3) / 4;
  if (left >= end || row >= rows) return;
  int8 image = row / OW / OH, oy = row / OW % OH;
  int8 ox = row % OW + (int8)(0, 1, 2, 3, 4, 5, 6, 7);
  if (ox.s7 >= OW) {
    const int8 lines = ox / OW;
    ox -= lines * OW;
    const int8 images = (oy + lines) / OH;
    oy += lines - images * OH;
    image = min(image + images, (int8)(N - 1));
  }
  const int8 iy0 = oy * stride_h - pad_top, ix0 = ox * stride_w - pad_left;
  const int8 at = ((image * H + iy0) * W + ix0) * texels + group * quads;
  EACH_OF_8(OPEN_ROW)
  TILE_OPEN(left, right, panels, KH * KW * quads);
  TILE_AHEAD(rows < OC * KH * KW, left, panels, KH * KW * quads)
  for (int i = 0; i < KH; ++i) {
    const int8 iy = iy0 + i * dil_h;
    const int8 inside_line = iy >= 0 && iy < H;
    for (int j = 0; j < KW; ++j) {
      const int8 ix = ix0 + j * dil_w;
      const int8 inside = inside_line && ix >= 0 && ix < W;
      const int offset = (i * dil_h * W + j * dil_w) * texels;
      const int tap = (i * KW + j) * quads;
      EACH_OF_8(OPEN_TAP)
      if (C == 3 && all(inside) && pair) {
        RUN(TILE_QUAD_THREE, INSIDE)
      } else if (all(inside) && pair) {
        RUN(TILE_QUAD, INSIDE)
      } else if (all(inside)) {
        RUN(TILE_QUAD_LEFT, INSIDE)
      } else if (any(inside)) {
        RUN(TILE_QUAD, BORDER)
      } else {
        W_PASS(0, quads);
        W_PASS(1, quads);
      }
    }
  }
  TILE_FINISH(left, end, row * quads_o, quads_o, rows - row, OC)
}
