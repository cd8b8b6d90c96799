// Tiles of 4 x 4 input pixels as Winograd multiplies them: B d B' (kernels/winograd.h), zero padding.
// Two of the four rows of a texel of channels an item: all four take more registers than Mali has.
#define READ(row, inside, j)                                                                \
  (inside && ix + j >= 0 && ix + j < W                                                      \
       ? to_float4(load4(x, texel_at((ix + j) * quads + quad, row, W * quads)))             \
       : (float4)(0.0f))
// Column j of the two rows, before B': `beside` is the row of d that only one of them has.
#define COLUMN(j)                                                                           \
  float4 upper##j, lower##j;                                                                \
  {                                                                                         \
    const float4 d = READ(beside, has_beside, j);                                           \
    const float4 d1 = READ(from + 1, has_1, j), d2 = READ(from + 2, has_2, j);              \
    upper##j = half_of ? d2 - d1 : d - d2;                                                  \
    lower##j = half_of ? d1 - d : d1 + d2;                                                  \
  }
#define STORE(i, j, v)                                                                      \
  store4(y, texel_at(tile * quads + quad, line + ((i) * 4 + j) * lines, across * quads), v);
#define ROW(i, v)                                                                           \
  STORE(i, 0, v##0 - v##2)                                                                  \
  STORE(i, 1, v##1 + v##2)                                                                  \
  STORE(i, 2, v##2 - v##1)                                                                  \
  STORE(i, 3, v##1 - v##3)

ALONE __kernel void winograd_in_texel(ACT_IN(x), ACT_OUT(y), int N, int H, int W, int C, int OH, int OW,
                                      int pad_top, int pad_left) {
  const int quads = (C + 3) / 4;
  const int down = (OH + 1) / 2, across = (OW + 1) / 2, lines = N * down;
  const int quad = get_global_id(0);
  const int tile = get_global_id(1);
  const int line = (int)get_global_id(2) / 2;
  const int half_of = (int)get_global_id(2) % 2;
  if (quad >= quads || tile >= across) return;
  const int ix = tile * 2 - pad_left;
  const int iy = line % down * 2 - pad_top;
  const int from = line / down * H + iy;
  const int beside = from + 3 * half_of;
  const bool has_beside = iy + 3 * half_of >= 0 && iy + 3 * half_of < H;
  const bool has_1 = iy + 1 >= 0 && iy + 1 < H, has_2 = iy + 2 >= 0 && iy + 2 < H;
  COLUMN(0)
  COLUMN(1)
  COLUMN(2)
  COLUMN(3)
  ROW(2 * half_of, upper)
  ROW(2 * half_of + 1, lower)
}
