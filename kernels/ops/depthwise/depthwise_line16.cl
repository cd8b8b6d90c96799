// Depthwise convolution, zero padding: COLUMNS columns of one output line and PANELS times 16
// channels an item, 8 columns by 16 channels at a time, for processors with wide SIMD. The last 16
// channels and the last 8 columns are moved back to end where the tensor does; what another step
// covers is not stored again. Row k of the weights is tap k. Products are `real`; a line of the
// filter is one chunk.
//
// At a stride and dilation of 1 three taps, or two, share what they read of x; where a pixel has few texels none do:
// that is rare, and would be as long for compilers as what is not.
#define TAP(k) w_lanes(tap + (k)*columns)
#define COLUMN(m) buffer_load16(p, 0)
#define WITHIN(m) ((uint)(ix + (m)*stride_w) < (uint)W)
#define EDGE(m) lanes_or_zeros(x, p, WITHIN(m))
#define NARROW(m) few_lanes_or_zeros(x, p, WITHIN(m), quads - 1)
#define ADD(i, m, k) c##i = madd(x##m, tap##k, c##i);
#define TAP0 ADD(0, 0, 0) ADD(1, 1, 0) ADD(2, 2, 0) ADD(3, 3, 0) ADD(4, 4, 0) ADD(5, 5, 0) ADD(6, 6, 0) ADD(7, 7, 0)
#define TAP1 ADD(0, 1, 1) ADD(1, 2, 1) ADD(2, 3, 1) ADD(3, 4, 1) ADD(4, 5, 1) ADD(5, 6, 1) ADD(6, 7, 1) ADD(7, 8, 1)
#define TAP2 ADD(0, 2, 2) ADD(1, 3, 2) ADD(2, 4, 2) ADD(3, 5, 2) ADD(4, 6, 2) ADD(5, 7, 2) ADD(6, 8, 2) ADD(7, 9, 2)
#define OPEN(m, READ)          \
  const real16 x##m = READ(m); \
  p = buffer_at(p, step);
#define OPEN8(READ)                                               \
  OPEN(0, READ) OPEN(1, READ) OPEN(2, READ) OPEN(3, READ) \
  OPEN(4, READ) OPEN(5, READ) OPEN(6, READ) OPEN(7, READ)
#define ONE(READ)               \
  {                             \
    const real16 tap0 = TAP(0); \
    OPEN8(READ)                 \
    TAP0                        \
  }
#define TWO(READ)                              \
  {                                            \
    const real16 tap0 = TAP(0), tap1 = TAP(1); \
    OPEN8(READ)                                \
    OPEN(8, READ)                              \
    TAP0 TAP1                                  \
  }
#define THREE(READ)                                           \
  {                                                           \
    const real16 tap0 = TAP(0), tap1 = TAP(1), tap2 = TAP(2); \
    OPEN8(READ)                                               \
    OPEN(8, READ) OPEN(9, READ)                               \
    TAP0 TAP1 TAP2                                            \
  }
#define SHARED(READ)      \
  if (taps >= 3) {        \
    THREE(READ)           \
    j += 3;               \
  } else if (taps == 2) { \
    TWO(READ)             \
    j += 2;               \
  } else {                \
    ONE(READ)             \
    ++j;                  \
  }
#define ALONE(READ) \
  (void)taps;       \
  ONE(READ)         \
  ++j;
#define LINE_OF(TAPS, READ)                                     \
  for (int j = 0; j < KW;) {                                    \
    const int ix = ix0 + j * dil_w;                             \
    BUFFER_FROM(p) = buffer_at(x, (line + ix) * quads + texel); \
    const int tap = (i * KW + j) * columns + texel * 4;         \
    const int taps = slides ? KW - j : 1;                       \
    TAPS(READ)                                                  \
  }
#if ARITH_HALF
#define BEGIN(i)   \
  sum[i] = bias16; \
  real16 c##i = (real)0;
#define KEEP(i)               \
  sum[i] += to_float16(c##i); \
  c##i = (real)0;
#define END(i)
#define VALUE(i) sum[i]
#else
#define BEGIN(i) float16 c##i = bias16;
#define KEEP(i)
#define END(i) sum[i] = c##i;
#define VALUE(i) c##i
#endif
// A frequent activation: no branch between the stores.
#define STORE_BOUNDED(i) \
  buffer_store16(y, to + i * quads, act_bounded(VALUE(i), act, act_lo, act_hi));
#define STORE_GATED(i) buffer_store16(y, to + i * quads, act_gated(VALUE(i), act_lo, act_hi));
#define STORE(lanes, k)                                          \
  if (texel + k >= panel * 4 && texel + k < quads) {             \
    buffer_store4(y, to + k, mask_texel(v.lanes, texel + k, C)); \
  }

// Reads some lanes in any case, so that nothing branches.
static inline real16 lanes_or_zeros(BUFFER_FROM(x), BUFFER_FROM(p), int within) {
  const real16 v = buffer_load16(within ? p : x, 0);
  return within ? v : (real16)(0);
}

// The same where a pixel has fewer than four texels, the last of them `last`.
static inline real16 few_lanes_or_zeros(BUFFER_FROM(x), BUFFER_FROM(p), int within, int last) {
  BUFFER_FROM(from) = within ? p : x;
  const real16 v = (real16)(buffer_load4(from, 0), buffer_load4(from, min(1, last)),
                            buffer_load4(from, last), buffer_load4(from, last));
  return within ? v : (real16)(0);
}

ALONE __kernel void depthwise_line16(BUFFER_IN(x), W_ARGS, __global const float* restrict bias,
                                     BUFFER_OUT(y), int N, int H, int W, int C, int KH, int KW,
                                     int stride_h, int stride_w, int pad_top, int pad_left, int dil_h,
                                     int dil_w, int OH, int OW, int act, float act_lo, float act_hi) {
  const int out = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (out >= N * OH) return;
  const int columns = (C + 15) / 16 * 16;
  const int iy0 = out % OH * stride_h - pad_top;
  const int step = stride_w * quads;
  const int slides = stride_w == 1 && dil_w == 1;
  const int first = get_global_id(2) * PANELS, end = min(first + PANELS, (C + 15) / 16);
  const int left = get_global_id(0) * COLUMNS, right = min(left + COLUMNS, OW);
  for (int from = left; from < right; from += 8) {
    const int ox = max(min(from, OW - 8), 0);
    const int ix0 = ox * stride_w - pad_left;
    const int inside = ix0 >= 0 && ix0 + 7 * stride_w + (KW - 1) * dil_w < W;
    for (int panel = first; panel < end; ++panel) {
      const int texel = max(min(panel * 4, quads - 4), 0);
      const int whole = texel == panel * 4 && texel * 4 + 16 <= C;
      const int own = whole && ox >= left && ox + 8 <= OW;  // no other item stores one of the 8 by 16
      const float16 bias16 = vload16(0, bias + texel * 4);
      float16 sum[8];
      EACH_OF_8(BEGIN)
      for (int i = 0; i < KH; ++i) {
        const int iy = iy0 + i * dil_h;
        if (iy < 0 || iy >= H) continue;
        const int line = (out / OH * H + iy) * W;
        if (quads < 4) {
          LINE_OF(ALONE, NARROW)
        } else if (inside) {
          LINE_OF(SHARED, COLUMN)
        } else {
          LINE_OF(SHARED, EDGE)
        }
        EACH_OF_8(KEEP)
      }
      if (own && (ACT_BOUNDED(act) || ACT_GATED(act))) {
        const int to = (out * OW + ox) * quads + texel;
        if (ACT_BOUNDED(act)) {
          EACH_OF_8(STORE_BOUNDED)
        } else {
          EACH_OF_8(STORE_GATED)
        }
        continue;
      }
      EACH_OF_8(END)
      for (int i = from - ox; i < min(8, OW - ox); ++i) {
        const int to = (out * OW + ox + i) * quads + texel;
        const float16 v = activate(sum[i], act, act_lo, act_hi);
        if (whole) {
          buffer_store16(y, to, v);
          continue;
        }
        STORE(s0123, 0)
        STORE(s4567, 1)
        STORE(s89ab, 2)
        STORE(scdef, 3)
      }
    }
  }
}
