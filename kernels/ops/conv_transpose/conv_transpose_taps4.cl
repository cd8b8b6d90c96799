// Transposed convolution to at most four channels whose taps do not overlap (the stride is the
// filter's size, no padding): four taps of 8 pixels of one input line an item, a tap's texel in each
// quarter of a vector of 16. Of one channel, the four pixels of a vector go through the activation.
#define OPEN(i)                                                                       \
  BUFFER_FROM(x##i) = buffer_at(x, (line + min(column + i, W - 1)) * quads);          \
  float16 sum##i = (float16)(bias4, bias4, bias4, bias4);                             \
  CLEAR(i)
#define STEP(i)                               \
  {                                           \
    const real4 v = buffer_load4(x##i, quad); \
    TO(i) = madd((real16)(v.s0), w0, TO(i));  \
    TO(i) = madd((real16)(v.s1), w1, TO(i));  \
    TO(i) = madd((real16)(v.s2), w2, TO(i));  \
    TO(i) = madd((real16)(v.s3), w3, TO(i));  \
  }
#if ARITH_HALF
#define TO(i) part##i
#define CLEAR(i) real16 part##i = (real)0;
#define KEEP(i)                 \
  sum##i += to_float16(part##i); \
  part##i = (real)0;
#define KEEP_AFTER(quad)                        \
  if (((quad)&1) != 0 || (quad) + 1 == quads) { \
    EACH_OF_8(KEEP)                             \
  }
#else
#define TO(i) sum##i
#define CLEAR(i)
#define KEEP_AFTER(quad)
#endif
#define TAP(t) (min(first + (t), taps - 1) * quads)
#define TEXEL(i, t, v)                                                       \
  if (first + (t) < taps)                                                    \
    buffer_store4(y, ((out * KH + (first + (t)) / KW) * W + column + (i)) * KW + \
                         (first + (t)) % KW, v);
#define LIST(i) sums[i] = sum##i;
#define ALONE(z) ((float4)(z, 0.0f, 0.0f, 0.0f))
#define VALUES(i, a, b, c, d)  \
  if (column + i < W) {        \
    TEXEL(i, 0, ALONE(v.a))    \
    TEXEL(i, 1, ALONE(v.b))    \
    TEXEL(i, 2, ALONE(v.c))    \
    TEXEL(i, 3, ALONE(v.d))    \
  }
#define FOUR(i, j, k, l)                                                              \
  {                                                                                   \
    const float16 v = activate(                                                       \
        (float16)(sum##i.s048c, sum##j.s048c, sum##k.s048c, sum##l.s048c), act, act_lo, act_hi); \
    VALUES(i, s0, s1, s2, s3)                                                         \
    VALUES(j, s4, s5, s6, s7)                                                         \
    VALUES(k, s8, s9, sa, sb)                                                         \
    VALUES(l, sc, sd, se, sf)                                                         \
  }

ALONE __kernel void conv_transpose_taps4(BUFFER_IN(x), W_ARGS, __global const float4* restrict bias,
                                         BUFFER_OUT(y), int N, int H, int W, int C, int OC, int KH,
                                         int KW, int act, float act_lo, float act_hi) {
  const int first = get_global_id(0) * 4;
  const int column = get_global_id(1) * 8;
  const int out = get_global_id(2);  // line of x
  const int quads = (C + 3) / 4, taps = KH * KW;
  if (first >= taps || column >= W || out >= N * H) return;
  const int line = out * W;
  const float4 bias4 = bias[0];
  W_OPEN(0, 0, taps * quads, 16);
  W_OPEN(1, 0, taps * quads, 16);
  W_OPEN(2, 0, taps * quads, 16);
  W_OPEN(3, 0, taps * quads, 16);
  W_PASS(0, TAP(0));
  W_PASS(1, TAP(1));
  W_PASS(2, TAP(2));
  W_PASS(3, TAP(3));
  EACH_OF_8(OPEN)
  for (int quad = 0; quad < quads; ++quad) {
    real4 a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3, d0, d1, d2, d3;
    W_QUAD(0, a0, a1, a2, a3);
    W_QUAD(1, b0, b1, b2, b3);
    W_QUAD(2, c0, c1, c2, c3);
    W_QUAD(3, d0, d1, d2, d3);
    const real16 w0 = (real16)(a0, b0, c0, d0), w1 = (real16)(a1, b1, c1, d1);
    const real16 w2 = (real16)(a2, b2, c2, d2), w3 = (real16)(a3, b3, c3, d3);
    EACH_OF_8(STEP)
    KEEP_AFTER(quad)
  }
  if (OC == 1) {
    FOUR(0, 1, 2, 3)
    FOUR(4, 5, 6, 7)
  } else {
    float16 sums[8];
    EACH_OF_8(LIST)
    for (int i = 0; i < min(8, W - column); ++i) {
      const float16 v = activate(sums[i], act, act_lo, act_hi);
      TEXEL(i, 0, mask_texel(v.s0123, 0, OC))
      TEXEL(i, 1, mask_texel(v.s4567, 0, OC))
      TEXEL(i, 2, mask_texel(v.s89ab, 0, OC))
      TEXEL(i, 3, mask_texel(v.scdef, 0, OC))
    }
  }
}
