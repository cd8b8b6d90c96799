// Samples of x at the positions of `grid`, whose channels are across, down and, of 3 axes, deep: 4
// channels of one sample an item. Padding lanes of x are zero, and so are those that are made of them.
ALONE __kernel void grid_sample_texel(ACT_IN(x), ACT_IN(grid), ACT_OUT(y), int N, int D, int H, int W,
                                      int C, int OD, int OH, int OW, int axes, int taps, int padding,
                                      int align) {
  const int quads = (C + 3) / 4;
  const int column = get_global_id(0);
  const int out = get_global_id(1);
  if (column >= OW * quads || out >= N * OD * OH) return;
  const int quad = column % quads;
  const int image = out / (OD * OH) * D;
  const float4 position = to_float4(load4(grid, texel_at(column / quads, out, OW)));
  const float across = element_of(position.s0, W, align);
  const float down = element_of(position.s1, H, align);
  const float left = first_tap(taps, across), top = first_tap(taps, down);
  const int4 columns = tap_places(left, W, padding, align);
  const int4 rows = tap_places(top, H, padding, align);
  const float4 column_weights = tap_weights(taps, across - left);
  const float4 row_weights = tap_weights(taps, down - top);
  int4 planes = 0;
  float4 plane_weights = 1.0f;
  if (axes == 3) {
    const float deep = element_of(position.s2, D, align);
    const float front = first_tap(taps, deep);
    planes = tap_places(front, D, padding, align);
    plane_weights = tap_weights(taps, deep - front);
  }
  float4 sum = 0.0f;
  for (int k = 0; k < (axes == 3 ? taps : 1); ++k) {
    const int plane = lane_of(planes, k);
    for (int i = 0; i < taps; ++i) {
      const int row = lane_of(rows, i);
      if (plane < 0 || row < 0) continue;
      const int line = (image + plane) * H + row;
      const float line_weight = lane_of(plane_weights, k) * lane_of(row_weights, i);
      for (int j = 0; j < taps; ++j) {
        const int place = lane_of(columns, j);
        if (place < 0) continue;
        const float weight = line_weight * lane_of(column_weights, j);
        const float4 v = to_float4(load4(x, texel_at(place * quads + quad, line, W * quads)));
        sum = mad((float4)(weight), v, sum);
      }
    }
  }
  store4(y, texel_at(column, out, OW * quads), sum);
}
