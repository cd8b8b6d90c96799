// Largest value (kind 0) or mean (kind 1) of a window, 4 channels of one output pixel an item.
// Means are summed in float.
static inline int positions(int first, int end, int taps, int dilation) {
  return max(0, min(taps, (end - first + dilation - 1) / dilation));
}

ALONE __kernel void pool_window(ACT_IN(x), ACT_OUT(y), int N, int H, int W, int C, int KH, int KW,
                                int stride_h, int stride_w, int pad_top, int pad_left, int pad_bottom,
                                int pad_right, int dil_h, int dil_w, int OH, int OW, int kind,
                                int count_include_pad) {
  const int column = get_global_id(0);
  const int ox = get_global_id(1);
  const int out = get_global_id(2);
  const int quads = (C + 3) / 4;
  if (column >= quads || ox >= OW || out >= N * OH) return;
  const int iy0 = out % OH * stride_h - pad_top;
  const int ix0 = ox * stride_w - pad_left;
  float4 sum = 0.0f, largest = -INFINITY;
  int count = 0;
  for (int i = 0; i < KH; ++i) {
    const int iy = iy0 + i * dil_h;
    if (iy < 0 || iy >= H) continue;
    for (int j = 0; j < KW; ++j) {
      const int ix = ix0 + j * dil_w;
      if (ix < 0 || ix >= W) continue;
      const float4 v =
          to_float4(load4(x, texel_at(ix * quads + column, out / OH * H + iy, W * quads)));
      sum += v;
      largest = larger(largest, v);
      ++count;
    }
  }
  if (count_include_pad != 0) {
    count = positions(iy0, H + pad_bottom, KH, dil_h) * positions(ix0, W + pad_right, KW, dil_w);
  }
  const float4 v = kind == 0 ? largest : sum / (float)max(count, 1);
  store4(y, texel_at(ox * quads + column, out, OW * quads), mask_texel(v, column, C));
}
