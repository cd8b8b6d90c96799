// y = act(middle * w + bias), middle = middle_act(depthwise 3 x 3 of x + middle_bias), for processors with
// wide SIMD (kernels/common/tile8x32.clh): TILE_HEIGHT pixels, one after the other, an item, and all
// columns, or every second pair of panels where two items share the pixels. Its middle lies in local
// memory, which a processor has in its first cache, a row a pixel. Rows lie a constant apart, so that one pointer
// serves all of them and no sum is spilt; one panel is left free between them, for rows of 4 KiB would share the same
// few lines of that cache. With 14 pixels the weights, which the second cache may not hold, are read half as often as
// with 7; where they are half, what they become takes registers from the sums of 14.
// With `add`, r is added before the activation.
//
// Of the window of pixel i, corner[i] is the texel of the first tap, and bit k of inside[i] says that tap k lies
// inside.
#define ROW (MIDDLE_PANELS + 1)
#define ALL_TAPS 511
// Which of three neighbours, the first at `at`, lie between 0 and `end`.
#define THREE(at, end) \
  (((uint)(at) < (uint)(end)) | ((uint)(at) + 1 < (uint)(end)) << 1 | ((uint)(at) + 2 < (uint)(end)) << 2)
#define TAP(k) const float16 tap##k = vload16(0, taps + (k)*pitch + panel * 16);
#define LINE(k) BUFFER_FROM(line##k) = buffer_at(x, corner[i] + panel * 4 + (k)*down);
#define TERM(k) TERM_OF((k) / 3 == 0 ? line0 : (k) / 3 == 1 ? line1 : line2, k)
#define TERM_OF(line, k) v = madd(buffer_load16(line, (k) % 3 * quads), tap##k, v);
#define EDGE_TERM(k) \
  if ((inside[i] & 1 << (k)) != 0) TERM(k)
#define NINE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8)
#define READ(i) rows[(i)*ROW * 4 + quad]
#define RUN(QUAD)                            \
  for (int quad = 0; quad < quads; ++quad) { \
    QUAD(READ)                               \
    TILE_KEEP_AFTER(quad, quads)             \
  }

ALONE __kernel void depthwise_gemm_tile(BUFFER_IN(x), __global const float* restrict taps,
                                            __global const float* restrict middle_bias, W_ARGS,
                                            __global const float16* restrict bias, BUFFER_IN(r),
                                            BUFFER_OUT(y), int M, int H, int W, int C, int OC,
                                            int stride_h, int stride_w, int pad_top, int pad_left, int OH,
                                            int OW, int middle_act, float middle_act_lo,
                                            float middle_act_hi, int add, int act, float act_lo,
                                            float act_hi) {
  OWN_MEMORY float16 middle[TILE_HEIGHT * ROW];
  const int part = get_global_id(0), parts = get_global_size(0);
  const int row = get_global_id(1) * TILE_HEIGHT, last = min(TILE_HEIGHT, M - row) - 1;
  const int quads = (C + 3) / 4, quads_o = (OC + 3) / 4;
  const int middle_panels = (C + 15) / 16;
  const int pitch = middle_panels * 16, down = W * quads;
  int inside[TILE_HEIGHT], corner[TILE_HEIGHT];
  WALK_OPEN(row, OW, OH)
  for (int i = 0; i <= last; ++i) {
    const int iy = walk_y * stride_h - pad_top, ix = walk_x * stride_w - pad_left;
    const int lines = THREE(iy, H), columns = THREE(ix, W);
    inside[i] = columns * ((lines & 1) | (lines & 2) << 2 | (lines & 4) << 4);
    corner[i] = ((walk_n * H + iy) * W + ix) * quads;
    WALK_NEXT(OW, OH)
  }
  const int bound = ACT_BOUNDED(middle_act) ? middle_act : 0;
  for (int panel = 0; panel < middle_panels; ++panel) {
    NINE(TAP)
    const float16 start = vload16(0, middle_bias + panel * 16);
    for (int i = 0; i <= last; ++i) {
      LINE(0) LINE(1) LINE(2)
      float16 v = start;
      if (inside[i] == ALL_TAPS) {
        NINE(TERM)
      } else {
        NINE(EDGE_TERM)
      }
      middle[i * ROW + panel] = act_bounded(v, bound, middle_act_lo, middle_act_hi);
    }
  }
  // Apart from the sums: a call among them would take their taps from the registers.
  if (!ACT_BOUNDED(middle_act)) {
    for (int i = 0; i <= last; ++i) {
      for (int at = i * ROW; at < i * ROW + middle_panels; ++at) {
        middle[at] = activate(middle[at], middle_act, middle_act_lo, middle_act_hi);
      }
    }
  }
  // What is made of rows that are not there is not stored.
  for (int at = (last + 1) * ROW; at < TILE_HEIGHT * ROW; ++at) middle[at] = 0.0f;
  OWN_MEMORY const float4* rows = (OWN_MEMORY const float4*)middle;
  const int panels = (OC + 15) / 16;
  for (int left = part * 2; left < panels; left += parts * 2) {
    const int right = min(left + 1, panels - 1);
    TILE_OPEN(left, right, panels, quads);
    if (left + 1 < panels) {
      RUN(TILE_QUAD)
    } else {
      RUN(TILE_QUAD_LEFT)
    }
    TILE_FINISH_PLUS(add, r, left, panels, row * quads_o, quads_o, M - row, OC)
  }
}
