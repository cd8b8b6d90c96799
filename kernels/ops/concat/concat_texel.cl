// x1 to x4 one after the other along n, h, w or c (axis 0 to 3), P1 to P4 long; a part of c begins
// with a whole texel. One texel an item.
#define FROM(x, length)                                                                   \
  load4(x, texel_at((axis == 2 ? at : w) * (axis == 3 ? ((length) + 3) / 4 : quads) +      \
                        (axis == 3 ? at / 4 : t),                                          \
                    (axis == 0 ? at : n) * (axis == 1 ? (length) : H) + (axis == 1 ? at : h), \
                    (axis == 2 ? (length) : W) * (axis == 3 ? ((length) + 3) / 4 : quads)))

ALONE __kernel void concat_texel(ACT_IN(x1), ACT_IN(x2), ACT_IN(x3), ACT_IN(x4), ACT_OUT(y), int N, int H,
                                 int W, int C, int axis, int P1, int P2, int P3, int P4) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= W * quads || line >= N * H) return;
  const int t = column % quads;
  const int w = column / quads;
  const int h = line % H;
  const int n = line / H;
  int at = axis == 0 ? n : axis == 1 ? h : axis == 2 ? w : 4 * t;
  real4 v;
  if (at < P1) {
    v = FROM(x1, P1);
  } else if ((at -= P1) < P2) {
    v = FROM(x2, P2);
  } else if ((at -= P2) < P3) {
    v = FROM(x3, P3);
  } else {
    at -= P3;
    v = FROM(x4, P4);
  }
  store4(y, texel_at(column, line, W * quads), mask_texel(to_float4(v), t, C));
}
