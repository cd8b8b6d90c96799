// y[N] = act(x[K] * w + bias), one panel of 16 columns an item, for processors with wide SIMD. Four
// partial sums keep the multiply-add pipes busy.
#define QUAD                               \
  {                                        \
    real16 w0, w1, w2, w3;                 \
    W_QUAD(0, w0, w1, w2, w3);             \
    const real4 v = buffer_load4(x, quad); \
    c0 = madd((real16)(v.s0), w0, c0);     \
    c1 = madd((real16)(v.s1), w1, c1);     \
    c2 = madd((real16)(v.s2), w2, c2);     \
    c3 = madd((real16)(v.s3), w3, c3);     \
    ++quad;                                \
  }
#define STORE(lanes, t) \
  if ((t) < quads_n) buffer_store4(y, t, mask_texel(v.lanes, t, N))

ALONE __kernel void gemv_col16(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias, BUFFER_OUT(y),
                               int N, int K, int act, float act_lo, float act_hi) {
  const int panel = get_global_id(0);
  const int panels = (N + 15) / 16;
  const int quads = (K + 3) / 4;
  const int quads_n = (N + 3) / 4;
  if (panel >= panels) return;
  W_OPEN(0, panel, quads, panels * 16);
  float16 sum = bias[panel];
  for (int block = 0; block < quads; block += 8) {
    const int end = min(block + 8, quads);
    real16 c0 = (real)0, c1 = (real)0, c2 = (real)0, c3 = (real)0;
    W_BLOCK(0);
    for (int quad = block; quad < end;) {
      QUAD;
    }
    sum += (to_float16(c0) + to_float16(c1)) + (to_float16(c2) + to_float16(c3));
  }
  const float16 v = activate(sum, act, act_lo, act_hi);
  STORE(s0123, panel * 4);
  STORE(s4567, panel * 4 + 1);
  STORE(s89ab, panel * 4 + 2);
  STORE(scdef, panel * 4 + 3);
}
