// Planes to texels: neighbouring rows of y are neighbouring channels of x, 16 of them at a time, the
// innermost run of rows (E3) an item. The last 16 of a run are moved back to end where it does. For
// processors. kernels/reference/move.cpp states what the extents and steps mean.
#define PLANE(k)                                                                            \
  const float16 p##k = 4 * t + k < OC                                                        \
                           ? to_float16(buffer_values16(x, at + (4 * t + k) * step + i3)) \
                           : 0.0f;
#define TEXELS(a, b, c, d)                                                                     \
  (float16)(p0.a, p1.a, p2.a, p3.a, p0.b, p1.b, p2.b, p3.b, p0.c, p1.c, p2.c, p3.c, p0.d, p1.d, \
            p2.d, p3.d)
#define STORE(i, a, b, c, d)                                          \
  {                                                                   \
    const float16 v = TEXELS(a, b, c, d);                             \
    if (quads_o == 1) {                                               \
      buffer_store16(y, to + i, v);                                   \
    } else {                                                          \
      buffer_store4(y, (to + i) * quads_o + t, v.s0123);              \
      buffer_store4(y, (to + i + 1) * quads_o + t, v.s4567);          \
      buffer_store4(y, (to + i + 2) * quads_o + t, v.s89ab);          \
      buffer_store4(y, (to + i + 3) * quads_o + t, v.scdef);          \
    }                                                                 \
  }

ALONE __kernel void move_planes16(BUFFER_IN(x), BUFFER_OUT(y), int C, int OC, int runs, int E1, int E2,
                                  int E3, int R0, int R1, int R2, int Q0, int Q1, int Q2, int RF2,
                                  int QF2, int row0, int channel0) {
  const int run = get_global_id(0);
  if (run >= runs) return;
  const int pitch = (C + 3) / 4 * 4, quads_o = (OC + 3) / 4;
  const int i2 = run % E2, i1 = run / E2 % E1, i0 = run / E2 / E1;
  const int at = (row0 + i0 * R0 + i1 * R1 + i2 * R2) * pitch + channel0 + i0 * Q0 + i1 * Q1 +
                 i2 * Q2;
  const int step = RF2 * pitch + QF2;
  for (int from = 0; from < E3; from += 16) {
    const int i3 = min(from, E3 - 16);
    const int to = run * E3 + i3;
    for (int t = 0; t < quads_o; ++t) {
      PLANE(0)
      PLANE(1)
      PLANE(2)
      PLANE(3)
      STORE(0, s0, s1, s2, s3)
      STORE(4, s4, s5, s6, s7)
      STORE(8, s8, s9, sa, sb)
      STORE(12, sc, sd, se, sf)
    }
  }
}
