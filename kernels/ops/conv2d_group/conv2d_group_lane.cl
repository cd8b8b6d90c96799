// Direct convolution in groups of any size, depthwise with a multiplier among them: 4 output
// channels of one pixel an item, each lane with the input channels of its own group. Half products
// are summed in float.
#define CHANNEL(v, c)                                                           \
  const real4 v##4 = load4(x, texel_at(ix * quads + (c) / 4, line, W * quads)); \
  const real v = lane_of(v##4, (c) % 4)

ALONE __kernel void conv2d_group_lane(ACT_IN(x), W_ARGS, __global const float4* restrict bias, ACT_OUT(y),
                                      int N, int H, int W, int C, int OC, int G, int KH, int KW,
                                      int stride_h, int stride_w, int pad_top, int pad_left, int dil_h,
                                      int dil_w, int OH, int OW, int act, float act_lo, float act_hi) {
  const int column = get_global_id(0);
  const int ox = get_global_id(1);
  const int out = get_global_id(2);
  const int quads = (C + 3) / 4;
  const int quads_o = (OC + 3) / 4;
  if (column >= quads_o || ox >= OW || out >= N * OH) return;
  const int cin = C / G;
  const int4 lane = min((int4)(4 * column) + (int4)(0, 1, 2, 3), (int4)(OC - 1));
  const int4 first = lane / (int4)(OC / G) * (int4)(cin);
  const int iy0 = out % OH * stride_h - pad_top;
  const int ix0 = ox * stride_w - pad_left;
  const w_pos down = w_pitch((OC + 15) / 16 * 16);
  const w_pos start = w_start(column, 0);
  float4 sum = bias[column];
  for (int tap = 0; tap < KH * KW; ++tap) {
    const int iy = iy0 + tap / KW * dil_h;
    const int ix = ix0 + tap % KW * dil_w;
    if (iy < 0 || iy >= H || ix < 0 || ix >= W) continue;
    const int line = out / OH * H + iy;
    w_pos at = start + tap * ((cin + 3) / 4 * 4) * down;
    for (int ci = 0; ci < cin; ++ci) {
      CHANNEL(a, first.s0 + ci);
      CHANNEL(b, first.s1 + ci);
      CHANNEL(c, first.s2 + ci);
      CHANNEL(d, first.s3 + ci);
      sum += to_float4((real4)(a, b, c, d) * w_load(at));
      at += down;
    }
  }
  const float4 v = activate(sum, act, act_lo, act_hi);
  store4(y, texel_at(ox * quads_o + column, out, OW * quads_o), mask_texel(v, column, OC));
}
