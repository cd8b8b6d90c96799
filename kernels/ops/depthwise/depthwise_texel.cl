// Depthwise convolution, zero padding: 4 channels of one output pixel an item. Row k of the weights
// is tap k. Products are `real`; a line of the filter is one chunk.
ALONE __kernel void depthwise_texel(ACT_IN(x), W_ARGS, __global const float4* restrict bias, ACT_OUT(y),
                                    int N, int H, int W, int C, int KH, int KW, int stride_h,
                                    int stride_w, int pad_top, int pad_left, int dil_h, int dil_w, int OH,
                                    int OW, int act, float act_lo, float act_hi) {
  const int column = get_global_id(0);
  const int ox = get_global_id(1);
  const int out = get_global_id(2);
  const int quads = (C + 3) / 4;
  if (column >= quads || ox >= OW || out >= N * OH) return;
  const int iy0 = out % OH * stride_h - pad_top;
  const int ix0 = ox * stride_w - pad_left;
  const w_pos down = w_pitch((C + 15) / 16 * 16);
  w_pos at = w_start(column, 0);
  float4 sum = bias[column];
  for (int i = 0; i < KH; ++i) {
    const int iy = iy0 + i * dil_h;
    if (iy >= 0 && iy < H) {
      const int line = out / OH * H + iy;
      CHUNK_BEGIN(chunk, sum);
      for (int j = 0; j < KW; ++j) {
        const int ix = ix0 + j * dil_w;
        if (ix < 0 || ix >= W) continue;
        chunk = madd(load4(x, texel_at(ix * quads + column, line, W * quads)),
                     w_load(at + j * down), chunk);
      }
      CHUNK_END(chunk, sum);
    }
    at += KW * down;
  }
  const float4 v = activate(sum, act, act_lo, act_hi);
  store4(y, texel_at(ox * quads + column, out, OW * quads), mask_texel(v, column, C));
}
