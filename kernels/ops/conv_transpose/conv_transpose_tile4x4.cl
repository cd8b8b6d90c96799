// Transposed convolution, gathered: 4 output channels by 4 output columns of one phase, stride_w
// apart, an item; such columns read the same taps of 4 neighbouring input columns.
ALONE __kernel void conv_transpose_tile4x4(ACT_IN(x), W_ARGS, __global const float4* restrict bias,
                                           ACT_OUT(y), int N, int H, int W, int C, int OC, int KH, int KW,
                                           int stride_h, int stride_w, int pad_top, int pad_left,
                                           int dil_h, int dil_w, int OH, int OW, int act, float act_lo,
                                           float act_hi) {
  const int column = get_global_id(0);
  const int group = get_global_id(1);
  const int out = get_global_id(2);
  const int ox = group / stride_w * 4 * stride_w + group % stride_w;
  const int quads = (C + 3) / 4;
  const int quads_o = (OC + 3) / 4;
  if (column >= quads_o || ox >= OW || out >= N * OH) return;
  W_OPEN(0, column, KH * KW * quads, (OC + 15) / 16 * 16);
  float4 sum0 = 0.0f, sum1 = 0.0f, sum2 = 0.0f, sum3 = 0.0f;
  for (int i = 0; i < KH; ++i) {
    const int from_y = out % OH + pad_top - i * dil_h;
    const bool row_hit = from_y >= 0 && from_y % stride_h == 0 && from_y / stride_h < H;
    const int line = out / OH * H + from_y / stride_h;
    for (int j = 0; j < KW; ++j) {
      const int from_x = ox + pad_left - j * dil_w;
      if (!row_hit || from_x % stride_w != 0) {
        w_at0 += quads * 4 * w_down0;
        continue;
      }
      const int ix = from_x / stride_w;
      for (int quad = 0; quad < quads; ++quad) {
        real4 w0, w1, w2, w3;
        W_QUAD(0, w0, w1, w2, w3);
        TILE_STEP(sum0, TILE_READ(ix, quad));
        TILE_STEP(sum1, TILE_READ(ix + 1, quad));
        TILE_STEP(sum2, TILE_READ(ix + 2, quad));
        TILE_STEP(sum3, TILE_READ(ix + 3, quad));
      }
    }
  }
  TILE_FINISH(ox, stride_w)
}
