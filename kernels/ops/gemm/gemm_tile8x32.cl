// y[M, N] = act(x * w + bias), 8 rows by 32 columns an item: two panels of 16 columns and sixteen
// accumulators, which is the register file of a wide SIMD processor. Buffers only, no local memory.
// Float arithmetic sums in registers; half arithmetic sums two quads, then in float.
#define EACH_ROW(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define OPEN_ROW(i) int at##i = min(row + i, M - 1) * quads;
#define CLEAR(i)         \
  real16 l##i = (real)0; \
  real16 r##i = (real)0;
#define STEP(i)                             \
  {                                         \
    const real4 v = buffer_load4(x, at##i); \
    ++at##i;                                \
    l##i = madd((real16)(v.s0), a0, l##i);  \
    r##i = madd((real16)(v.s0), b0, r##i);  \
    l##i = madd((real16)(v.s1), a1, l##i);  \
    r##i = madd((real16)(v.s1), b1, r##i);  \
    l##i = madd((real16)(v.s2), a2, l##i);  \
    r##i = madd((real16)(v.s2), b2, r##i);  \
    l##i = madd((real16)(v.s3), a3, l##i);  \
    r##i = madd((real16)(v.s3), b3, r##i);  \
  }
#if ARITH_HALF
#define KEEP(i)                            \
  sum[2 * i] += convert_float16(l##i);     \
  sum[2 * i + 1] += convert_float16(r##i); \
  l##i = (real)0;                          \
  r##i = (real)0;
#define KEEP_AFTER(quad) (((quad)&1) != 0 || (quad) + 1 == quads)
#else
#define KEEP(i)       \
  sum[2 * i] += l##i; \
  sum[2 * i + 1] += r##i;
#define KEEP_AFTER(quad) 0
#endif
#define STORE(lanes, t) \
  if ((t) < quads_n) buffer_store4(y, to + (t), mask_texel(v.lanes, t, N))

__kernel void gemm_tile8x32(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                            BUFFER_OUT(y), int M, int N, int K, int act, float act_lo,
                            float act_hi) {
  const int panels = (N + 15) / 16;
  const int left = get_global_id(0) * 2;
  const int right = min(left + 1, panels - 1);
  const int row = get_global_id(1) * 8;
  const int quads = (K + 3) / 4;
  const int quads_n = (N + 3) / 4;
  if (left >= panels || row >= M) return;
  EACH_ROW(OPEN_ROW)
  W_OPEN(0, left, quads, panels * 16);
  W_OPEN(1, right, quads, panels * 16);
  EACH_ROW(CLEAR)
  float16 sum[16];
  for (int i = 0; i < 16; ++i) sum[i] = bias[(i & 1) != 0 ? right : left];
  for (int block = 0; block < quads; block += 8) {
    const int end = min(block + 8, quads);
    W_BLOCK(0);
    W_BLOCK(1);
    for (int quad = block; quad < end; ++quad) {
      real16 a0, a1, a2, a3, b0, b1, b2, b3;
      W_QUAD(0, a0, a1, a2, a3);
      W_QUAD(1, b0, b1, b2, b3);
      EACH_ROW(STEP)
      if (KEEP_AFTER(quad)) {
        EACH_ROW(KEEP)
      }
    }
  }
#if !ARITH_HALF
  EACH_ROW(KEEP)
#endif
  for (int i = 0; i < 16; ++i) {
    const int panel = left + (i & 1);
    const int to = (row + i / 2) * quads_n;
    if (panel >= panels || row + i / 2 >= M) continue;
    const float16 v = activate(sum[i], act, act_lo, act_hi);
    STORE(s0123, panel * 4);
    STORE(s4567, panel * 4 + 1);
    STORE(s89ab, panel * 4 + 2);
    STORE(scdef, panel * 4 + 3);
  }
}
