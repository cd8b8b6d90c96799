// A convolution of 3 x 3 by Winograd's F(2x2, 3x3) (kernels/winograd.h), zero padding: 8 tiles of 2 x 2
// output pixels in reading order by 32 output channels an item. It transforms CHUNK input channels of
// its tiles at a time, adds their products (kernels/common/tile8x32.clh) to those of the channels
// before, and transforms what all channels give. Between the steps the numbers are in local memory,
// which an item has for itself; neighbours share w.
#define RUNS (CHUNK / 16)
#define OF_TILES(p) (from_tiles + ((p)*8 + tile) * RUNS + run)
#define OF_SUMS(p) (sums + (p)*16)
#define INSIDE(i, j) buffer_load16(x, at + ((i)*W + (j)) * quads)
#define BORDER(i, j) border[(i)*4 + (j)]
#define ROW(READ, i)                                                               \
  const float16 d##i##0 = READ(i, 0), d##i##1 = READ(i, 1), d##i##2 = READ(i, 2), \
                d##i##3 = READ(i, 3);
// Row i of B d B': row a of d, and row b added or taken away.
#define MAKE(i, a, sign, b)                                                            \
  {                                                                                    \
    const float16 v0 = d##a##0 sign d##b##0, v1 = d##a##1 sign d##b##1;                \
    const float16 v2 = d##a##2 sign d##b##2, v3 = d##a##3 sign d##b##3;                \
    *OF_TILES(4 * (i)) = v0 - v2;                                                      \
    *OF_TILES(4 * (i) + 1) = v1 + v2;                                                  \
    *OF_TILES(4 * (i) + 2) = v2 - v1;                                                  \
    *OF_TILES(4 * (i) + 3) = v1 - v3;                                                  \
  }
#define TRANSFORM(READ) \
  {                     \
    ROW(READ, 0)        \
    ROW(READ, 2)        \
    MAKE(0, 0, -, 2)    \
    ROW(READ, 1)        \
    MAKE(1, 1, +, 2)    \
    MAKE(2, 2, -, 1)    \
    ROW(READ, 3)        \
    MAKE(3, 1, -, 3)    \
  }
#define OPEN_SUM(i) float16 l##i = begun ? sum[2 * i] : 0.0f, r##i = begun ? sum[2 * i + 1] : 0.0f;
#define FACTOR(i) of_tiles[i * CHUNK / 4 + quad]
// Column j of A m.
#define SUM(i, j) OF_SUMS((i)*4 + (j))[2 * tile + half_row]
#define COLUMN(j)                                        \
  const float16 m1##j = SUM(1, j), m2##j = SUM(2, j);    \
  const float16 upper##j = SUM(0, j) + m1##j + m2##j;    \
  const float16 lower##j = m1##j - m2##j - SUM(3, j);

ALONE __kernel void winograd_tile8x32(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                                      BUFFER_OUT(y), int N, int H, int W, int C, int OC, int OH, int OW,
                                      int pad_top, int pad_left, int act, float act_lo, float act_hi) {
  OWN_MEMORY float16 from_tiles[16 * 8 * RUNS], sums[16 * 16];
  const int quads = (C + 3) / 4, quads_o = (OC + 3) / 4, panels = (OC + 15) / 16;
  const int down = (OH + 1) / 2, across = (OW + 1) / 2;
  const int first = get_global_id(0) * 8, tiles = min(N * down * across - first, 8);
  const int panel = get_global_id(1) * 2, pair = panel + 1 < panels;
  for (int from = 0; from < quads; from += CHUNK / 4) {
    const int begun = from > 0, here = min(quads - from, CHUNK / 4);
    WALK_OPEN(first, across, down)
    for (int tile = 0; tile < 8; ++tile) {
      const int iy = walk_y * 2 - pad_top, ix = walk_x * 2 - pad_left;
      const int inside = iy >= 0 && iy + 3 < H && ix >= 0 && ix + 3 < W;
      const int corner = ((walk_n * H + iy) * W + ix) * quads + from;
      for (int run = 0; run * 4 < here; ++run) {
        const int at = corner + run * 4, left = here - run * 4;
        if (inside && left >= 4) {
          TRANSFORM(INSIDE)
        } else {
          float16 border[16];
          for (int k = 0; k < 16; ++k) {
            const int line = iy + k / 4, column = ix + k % 4;
            border[k] = 0.0f;
            if (line < 0 || line >= H || column < 0 || column >= W) continue;
            border[k] = run_load(x, at + (k / 4 * W + k % 4) * quads, left);
          }
          TRANSFORM(BORDER)
        }
      }
      if (tile + 1 < tiles) {  // beyond the last tile that one again
        WALK_NEXT(across, down)
      }
    }
    for (int p = 0; p < 16; ++p) {
      OWN_MEMORY float16* sum = OF_SUMS(p);
      OWN_MEMORY const float4* of_tiles = (OWN_MEMORY const float4*)from_tiles + p * 8 * (CHUNK / 4);
      W_OPEN(0, panel, 16 * quads, panels * 16);
      W_OPEN(1, panel + pair, 16 * quads, panels * 16);
      W_PASS(0, p * quads + from);
      W_PASS(1, p * quads + from);
      EACH_OF_8(OPEN_SUM)
      if (pair) {
        for (int quad = 0; quad < here; ++quad) TILE_QUAD(FACTOR)
      } else {
        for (int quad = 0; quad < here; ++quad) TILE_QUAD_LEFT(FACTOR)
      }
      EACH_OF_8(TILE_KEEP)
    }
  }
  WALK_OPEN(first, across, down)
  for (int tile = 0; tile < tiles; ++tile) {
    const int oy = walk_y * 2, ox = walk_x * 2;
    for (int half_row = 0; half_row <= pair; ++half_row) {
      const int t = (panel + half_row) * 4;
      COLUMN(0)
      COLUMN(1)
      COLUMN(2)
      COLUMN(3)
      for (int i = 0; i < 4; ++i) {
        const int y_out = oy + i / 2, x_out = ox + i % 2;
        if (y_out >= OH || x_out >= OW) continue;
        const float16 z = pick_of_4(i, upper0 + upper1 + upper2, upper1 - upper2 - upper3,
                                    lower0 + lower1 + lower2, lower1 - lower2 - lower3);
        const float16 v = activate(z + bias[panel + half_row], act, act_lo, act_hi);
        const int at = ((walk_n * OH + y_out) * OW + x_out) * quads_o + t;
        run_store(y, at, quads_o - t, v, t, OC)
      }
    }
    WALK_NEXT(across, down)
  }
}
