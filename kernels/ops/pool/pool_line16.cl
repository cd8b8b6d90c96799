// Largest value (kind 0) or mean (kind 1) of a window, 16 channels at a time: COLUMNS columns of
// one output line and PANELS times 16 channels an item, for processors with wide SIMD. Means are
// summed in float.
static inline int positions(int first, int end, int taps, int dilation) {
  return first + (taps - 1) * dilation < end
             ? taps
             : max(0, min(taps, (end - first + dilation - 1) / dilation));
}
static inline int outside(int first, int dilation) {
  return first >= 0 ? 0 : (dilation - 1 - first) / dilation;
}
#define EACH_TAP(DO)                                                                \
  for (int i = i0; i < i1; ++i) {                                                   \
    int at = ((out / OH * H + iy0 + i * dil_h) * W + ix0 + j0 * dil_w) * quads + t; \
    for (int j = j0; j < j1; ++j, at += dil_w * quads) {                            \
      const float16 v = to_float16(run_load(x, at, left));                          \
      DO;                                                                           \
    }                                                                               \
  }

ALONE __kernel void pool_line16(BUFFER_IN(x), BUFFER_OUT(y), int N, int H, int W, int C, int KH, int KW,
                                int stride_h, int stride_w, int pad_top, int pad_left, int pad_bottom,
                                int pad_right, int dil_h, int dil_w, int OH, int OW, int kind,
                                int count_include_pad) {
  const int out = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (out >= N * OH) return;
  const int iy0 = out % OH * stride_h - pad_top;
  const int i0 = outside(iy0, dil_h), i1 = positions(iy0, H, KH, dil_h);
  const int first = get_global_id(2) * PANELS * 4, end = min(first + PANELS * 4, quads);
  const int right = min((int)(get_global_id(0) + 1) * COLUMNS, OW);
  for (int ox = get_global_id(0) * COLUMNS; ox < right; ++ox) {
    const int ix0 = ox * stride_w - pad_left;
    const int j0 = outside(ix0, dil_w), j1 = positions(ix0, W, KW, dil_w);
    const int count = count_include_pad ? positions(iy0, H + pad_bottom, KH, dil_h) *
                                              positions(ix0, W + pad_right, KW, dil_w)
                                        : max(0, i1 - i0) * max(0, j1 - j0);
    for (int t = first; t < end; t += 4) {
      const int left = quads - t;
      float16 value = kind == 0 ? -INFINITY : 0.0f;
      if (kind == 0) {
        EACH_TAP(value = larger(value, v))
      } else {
        EACH_TAP(value += v)
        value /= (float)max(count, 1);
      }
      run_store(y, (out * OW + ox) * quads + t, left, value, t, C)
    }
  }
}
