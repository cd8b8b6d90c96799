// x1 to x4 one after the other along n, h, w or c (axis 0 to 3), P1 to P4 long, each lane on its
// own. One texel an item.
#define FROM(x, length)                                                                   \
  load4(x, texel_at((axis == 2 ? at : w) * (axis == 3 ? ((length) + 3) / 4 : quads) + c / 4, \
                    (axis == 0 ? at : n) * (axis == 1 ? (length) : H) + (axis == 1 ? at : h), \
                    (axis == 2 ? (length) : W) * (axis == 3 ? ((length) + 3) / 4 : quads)))

#define TAKE(out, l)                                                    \
  {                                                                     \
    int c = min(4 * t + l, C - 1);                                      \
    int at = axis == 0 ? n : axis == 1 ? h : axis == 2 ? w : c;         \
    const int part = at < P1             ? 0                            \
                     : at < P1 + P2      ? 1                            \
                     : at < P1 + P2 + P3 ? 2                            \
                                         : 3;                           \
    at -= (part > 0 ? P1 : 0) + (part > 1 ? P2 : 0) + (part > 2 ? P3 : 0); \
    if (axis == 3) c = at;                                              \
    real4 texel;                                                        \
    if (part == 0) texel = FROM(x1, P1);                                    \
    if (part == 1) texel = FROM(x2, P2);                                    \
    if (part == 2) texel = FROM(x3, P3);                                    \
    if (part == 3) texel = FROM(x4, P4);                                    \
    out = lane_of(texel, c % 4);                                 \
  }

__kernel void concat_lane(ACT_IN(x1), ACT_IN(x2), ACT_IN(x3), ACT_IN(x4), ACT_OUT(y), int N, int H,
                          int W, int C, int axis, int P1, int P2, int P3, int P4) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= W * quads || line >= N * H) return;
  const int t = column % quads;
  const int w = column / quads;
  const int h = line % H;
  const int n = line / H;
  float4 out;
  TAKE(out.s0, 0)
  TAKE(out.s1, 1)
  TAKE(out.s2, 2)
  TAKE(out.s3, 3)
  store4(y, texel_at(column, line, W * quads), mask_texel(out, t, C));
}
