// Tiles of 4 x 4 input pixels as Winograd multiplies them: B d B' (kernels/winograd.h), zero padding.
// Four texels of channels of `tiles` neighbouring tiles an item: beyond the last of either there is
// nothing to loop over. Of a tile two rows are in registers at a time.
#define floats(lanes) JOIN(float, lanes)
#define LOAD_4(pos) to_float4(buffer_load4(x, pos))
#define LOAD_16(pos) to_float16(buffer_load16(x, pos))
#define STORE_4(pos, v) buffer_store4(y, pos, v)
#define STORE_16(pos, v) buffer_store16(y, pos, v)
#define READ(lanes, i, j)                                                                  \
  (line##i && column##j                                                                    \
       ? JOIN(LOAD_, lanes)(texel_at((ix + j) * quads + quad, from + i, W * quads))        \
       : (floats(lanes))0.0f)
#define ROW(lanes, i)                                                                      \
  const floats(lanes) d##i##0 = READ(lanes, i, 0), d##i##1 = READ(lanes, i, 1),            \
                      d##i##2 = READ(lanes, i, 2), d##i##3 = READ(lanes, i, 3);
#define STORE(lanes, i, j, v)                                                              \
  JOIN(STORE_, lanes)                                                                      \
  (texel_at(tile * quads + quad, line + (i * 4 + j) * lines, across * quads), v);
// Row i of the result: row a of d, and row b added or taken away, which is all that B does.
#define MAKE(lanes, i, a, sign, b)                                                         \
  {                                                                                        \
    const floats(lanes) v0 = d##a##0 sign d##b##0, v1 = d##a##1 sign d##b##1;              \
    const floats(lanes) v2 = d##a##2 sign d##b##2, v3 = d##a##3 sign d##b##3;              \
    STORE(lanes, i, 0, v0 - v2)                                                            \
    STORE(lanes, i, 1, v1 + v2)                                                            \
    STORE(lanes, i, 2, v2 - v1)                                                            \
    STORE(lanes, i, 3, v1 - v3)                                                            \
  }
#define TILE(lanes)                                                                        \
  {                                                                                        \
    ROW(lanes, 0)                                                                          \
    ROW(lanes, 2)                                                                          \
    MAKE(lanes, 0, 0, -, 2)                                                                \
    ROW(lanes, 1)                                                                          \
    MAKE(lanes, 1, 1, +, 2)                                                                \
    MAKE(lanes, 2, 2, -, 1)                                                                \
    ROW(lanes, 3)                                                                          \
    MAKE(lanes, 3, 1, -, 3)                                                                \
  }

__kernel void winograd_in_run(BUFFER_IN(x), BUFFER_OUT(y), int N, int H, int W, int C, int OH, int OW,
                              int pad_top, int pad_left, int tiles) {
  const int quads = (C + 3) / 4;
  const int down = (OH + 1) / 2, across = (OW + 1) / 2, lines = N * down;
  const int first = get_global_id(0) * 4;
  const int first_tile = get_global_id(1) * tiles;
  const int line = get_global_id(2);
  const int iy = line % down * 2 - pad_top;
  const int from = line / down * H + iy;
  const int line0 = iy >= 0 && iy < H, line1 = iy + 1 >= 0 && iy + 1 < H;
  const int line2 = iy + 2 >= 0 && iy + 2 < H, line3 = iy + 3 >= 0 && iy + 3 < H;
  for (int tile = first_tile; tile < min(first_tile + tiles, across); ++tile) {
    const int ix = tile * 2 - pad_left;
    const int column0 = ix >= 0 && ix < W, column1 = ix + 1 >= 0 && ix + 1 < W;
    const int column2 = ix + 2 >= 0 && ix + 2 < W, column3 = ix + 3 >= 0 && ix + 3 < W;
    if (first + 4 <= quads) {
      const int quad = first;
      TILE(16)
      continue;
    }
    for (int quad = first; quad < min(first + 4, quads); ++quad) TILE(4)
  }
}
