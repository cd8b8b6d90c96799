// Direct convolution in groups whose channels come in whole texels: 4 output channels of one group
// by 4 neighbouring columns an item.
__kernel void conv2d_group_tile4x4(ACT_IN(x), W_ARGS, __global const float4* restrict bias,
                                   ACT_OUT(y), int N, int H, int W, int C, int OC, int G, int KH,
                                   int KW, int stride_h, int stride_w, int pad_top, int pad_left,
                                   int dil_h, int dil_w, int OH, int OW, int act, float act_lo,
                                   float act_hi) {
  const int column = get_global_id(0);
  const int ox = get_global_id(1) * 4;
  const int out = get_global_id(2);
  const int quads = C / 4;
  const int quads_o = OC / 4;
  const int quads_g = quads / G;
  if (column >= quads_o || ox >= OW || out >= N * OH) return;
  const int first = column / (quads_o / G) * quads_g;
  const int iy0 = out % OH * stride_h - pad_top;
  const int ix0 = ox * stride_w - pad_left;
  W_OPEN(0, column, KH * KW * quads_g, (OC + 15) / 16 * 16);
  float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (int i = 0; i < KH; ++i) {
    const int iy = iy0 + i * dil_h;
    if (iy < 0 || iy >= H) {
      w_at0 += KW * quads_g * 4 * w_down0;
      continue;
    }
    const int line = out / OH * H + iy;
    for (int j = 0; j < KW; ++j) {
      const int ix = ix0 + j * dil_w;
      for (int quad = first; quad < first + quads_g; ++quad) {
        real4 w0, w1, w2, w3;
        W_QUAD(0, w0, w1, w2, w3);
        TILE_STEP(sum0, TILE_READ(ix, quad));
        TILE_STEP(sum1, TILE_READ(ix + stride_w, quad));
        TILE_STEP(sum2, TILE_READ(ix + 2 * stride_w, quad));
        TILE_STEP(sum3, TILE_READ(ix + 3 * stride_w, quad));
      }
    }
  }
  TILE_FINISH(ox, 1)
}
