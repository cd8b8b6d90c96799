// Nearest (mode 0) or linear (mode 1) resampling, 4 channels of one output pixel an item.
#define READ(iy, ix) \
  to_float4(load4(x, texel_at((ix)*quads + quad, out / OH * H + (iy), W * quads)))

ALONE __kernel void resize_texel(ACT_IN(x), ACT_OUT(y), int N, int H, int W, int C, int OH, int OW,
                                 int mode, int transform, int rounding, float scale_h, float scale_w) {
  const int quads = (C + 3) / 4;
  const int column = get_global_id(0);
  const int out = get_global_id(1);
  if (column >= OW * quads || out >= N * OH) return;
  const int quad = column % quads;
  const float sy = source(transform, out % OH, H, OH, scale_h);
  const float sx = source(transform, column / quads, W, OW, scale_w);
  const texel_pos at = texel_at(column, out, OW * quads);
  if (mode == 0) {
    store4(y, at, READ(nearest(rounding, sy, H), nearest(rounding, sx, W)));
    return;
  }
  const float floor_y = floor(sy), floor_x = floor(sx);
  const int top = clamp((int)floor_y, 0, H - 1), low = clamp((int)floor_y + 1, 0, H - 1);
  const int left = clamp((int)floor_x, 0, W - 1), right = clamp((int)floor_x + 1, 0, W - 1);
  const float4 upper = mix(READ(top, left), READ(top, right), sx - floor_x);
  const float4 lower = mix(READ(low, left), READ(low, right), sx - floor_x);
  store4(y, at, mix(upper, lower, sy - floor_y));
}
