// y = act(x1 * x2) for each pair of matrices, 8 rows by 16 columns an item: one accumulator a row,
// each as wide as a register of a wide SIMD processor. Buffers only. Float arithmetic sums in
// registers; half arithmetic sums two quads, then in float.
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define OPEN_ROW(i) int at##i = (line * M + min(row + i, M - 1)) * quads;
#define CLEAR(i) real16 s##i = (real)0;
#define STEP(i)                              \
  {                                          \
    const real4 v = buffer_load4(x1, at##i); \
    ++at##i;                                 \
    s##i = madd((real16)(v.s0), b0, s##i);   \
    s##i = madd((real16)(v.s1), b1, s##i);   \
    s##i = madd((real16)(v.s2), b2, s##i);   \
    s##i = madd((real16)(v.s3), b3, s##i);   \
  }
#if ARITH_HALF
#define DECLARE(i) float16 sum##i = 0.0f;
#define KEEP(i)                    \
  sum##i += convert_float16(s##i); \
  s##i = (real)0;
#define KEEP_AFTER(quad) (((quad)&1) != 0 || (quad) + 1 == quads)
#define SUM(i) sum##i
#else
#define DECLARE(i)
#define KEEP(i)
#define KEEP_AFTER(quad) 0
#define SUM(i) s##i
#endif
#define STORE(i, lanes, t)                                                             \
  if ((t) < quads_c) {                                                                 \
    buffer_store4(y, (line * M + row + i) * quads_c + (t), mask_texel(v.lanes, t, C)); \
  }
#define FINISH(i)                                            \
  if (row + i < M) {                                         \
    const float16 v = activate(SUM(i), act, act_lo, act_hi); \
    STORE(i, s0123, column)                                  \
    STORE(i, s4567, column + 1)                              \
    STORE(i, s89ab, column + 2)                              \
    STORE(i, scdef, column + 3)                              \
  }
#if !STORE_HALF
#define load16(p, i) vload16(0, (__global const float*)((p) + (i)))
#elif ARITH_HALF
#define load16(p, i) vload16(0, (__global const half*)((p) + (i)))
#else
#define load16(p, i) vload_half16(0, (p) + (size_t)(i)*4)
#endif

// 16 columns from texel `at`, those of `texels` texels; the others are zero.
static inline real16 load_columns(BUFFER_IN(p), int at, int texels) {
  const real4 none = (real)0;
  if (texels > 3) return load16(p, at);
  return (real16)(buffer_load4(p, at), texels > 1 ? buffer_load4(p, at + 1) : none,
                  texels > 2 ? buffer_load4(p, at + 2) : none, none);
}

ALONE __kernel void bmm_tile8x16(BUFFER_IN(x1), BUFFER_IN(x2), BUFFER_OUT(y), int N, int H, int M, int K,
                                 int C, int N2, int H2, int act, float act_lo, float act_hi) {
  const int column = get_global_id(0) * 4;
  const int row = get_global_id(1) * 8;
  const int line = get_global_id(2);
  const int quads = (K + 3) / 4;
  const int quads_c = (C + 3) / 4;
  if (column >= quads_c || row >= M || line >= N * H) return;
  const int texels = quads_c - column;
  const int line2 = (N2 == 1 ? 0 : line / H) * H2 + (H2 == 1 ? 0 : line % H);
  EACH_ROW(OPEN_ROW)
  EACH_ROW(CLEAR)
  EACH_ROW(DECLARE)
  int down = line2 * K * quads_c + column;
  for (int quad = 0; quad < quads; ++quad) {
    const int left = K - 4 * quad;
    const real16 none = (real)0;
    const real16 b0 = load_columns(x2, down, texels);
    const real16 b1 = left > 1 ? load_columns(x2, down + quads_c, texels) : none;
    const real16 b2 = left > 2 ? load_columns(x2, down + 2 * quads_c, texels) : none;
    const real16 b3 = left > 3 ? load_columns(x2, down + 3 * quads_c, texels) : none;
    EACH_ROW(STEP)
    if (KEEP_AFTER(quad)) {
      EACH_ROW(KEEP)
    }
    down += 4 * quads_c;
  }
  EACH_ROW(FINISH)
}
