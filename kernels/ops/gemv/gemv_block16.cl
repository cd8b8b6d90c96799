// y[N] = act(x[K] * w + bias) with quantised weights, one panel of 16 columns an item, for
// processors with wide SIMD and float arithmetic. Each block of 32 rows is summed as it is stored:
// the sum of w x is scale times the sum of q x, plus offset times the sum of x. A number of the
// word's row i is masked and not shifted, so x is divided by its power of two.
#if W_BITS == 8
#define SHIFTS (float4)(1.0f, 0x1p-8f, 1.0f, 0x1p-8f)
#define QUAD                                                 \
  {                                                          \
    const int16 even = convert_int16(w[at]);                 \
    const int16 odd = convert_int16(w[at + 1]);              \
    ADD(c0, s0, even & (int16)(255));                        \
    ADD(c1, s1, even & (int16)(255 << 8));                   \
    ADD(c2, s2, odd & (int16)(255));                         \
    ADD(c3, s3, odd & (int16)(255 << 8));                    \
    at += 2;                                                 \
  }
#else
#define SHIFTS (float4)(1.0f, 0x1p-4f, 0x1p-8f, 0x1p-12f)
#define QUAD                                                 \
  {                                                          \
    const int16 word = convert_int16(w[at]);                 \
    ADD(c0, s0, word & (int16)(15));                         \
    ADD(c1, s1, word & (int16)(15 << 4));                    \
    ADD(c2, s2, word & (int16)(15 << 8));                    \
    ADD(c3, s3, word & (int16)(15 << 12));                   \
    ++at;                                                    \
  }
#endif
#define ADD(sum, lane, q) sum = madd((float16)(u.lane), convert_float16(q), sum)
#define STORE(lanes, t) \
  if ((t) < quads_n) buffer_store4(y, t, mask_texel(v.lanes, t, N))

ALONE __kernel void gemv_block16(BUFFER_IN(x), W_ARGS, __global const float16* restrict bias,
                                 BUFFER_OUT(y), int N, int K, int act, float act_lo, float act_hi) {
  const int panel = get_global_id(0);
  const int panels = (N + 15) / 16;
  const int quads = (K + 3) / 4;
  const int quads_n = (N + 3) / 4;
  if (panel >= panels) return;
  int at = panel * W_ROWS(quads);
  int s_at = panel;
  float16 sum = bias[panel];
  for (int block = 0; block < quads; block += 8) {
    float16 c0 = 0.0f, c1 = 0.0f, c2 = 0.0f, c3 = 0.0f;
    float4 of_x = 0.0f;
    const int end = min(block + 8, quads);
    for (int quad = block; quad < end; ++quad) {
      const float4 value = buffer_load4(x, quad);
      const float4 u = value * SHIFTS;
      of_x += value;
      QUAD
    }
    const float16 products = (c0 + c1) + (c2 + c3);
    sum = madd(products, values_load(scales, s_at), sum);
    sum = madd((float16)(sum_of4(of_x)), values_load(scales, s_at + panels), sum);
    s_at += 2 * panels;
  }
  const float16 v = activate(sum, act, act_lo, act_hi);
  STORE(s0123, panel * 4);
  STORE(s4567, panel * 4 + 1);
  STORE(s89ab, panel * 4 + 2);
  STORE(scdef, panel * 4 + 3);
}
