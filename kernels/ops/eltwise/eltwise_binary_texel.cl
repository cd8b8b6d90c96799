// y = act(x1 code x2) with x2 broadcast along every extent that is 1; one texel an item.
ALONE __kernel void eltwise_binary_texel(ACT_IN(x1), ACT_IN(x2), ACT_OUT(y), int N, int H, int W, int C,
                                         int N2, int H2, int W2, int C2, int code, int act, float act_lo,
                                         float act_hi) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= W * quads || line >= N * H) return;
  const int quads2 = (C2 + 3) / 4;
  const int x_of2 = (W2 == 1 ? 0 : column / quads) * quads2 + (C2 == 1 ? 0 : column % quads);
  const int line2 = (N2 == 1 ? 0 : line / H) * H2 + (H2 == 1 ? 0 : line % H);
  const texel_pos at = texel_at(column, line, W * quads);
  const real4 a = load4(x1, at);
  real4 b = load4(x2, texel_at(x_of2, line2, W2 * quads2));
  if (C2 == 1) b = (real4)(b.s0);
  const float4 v = activate(combine(code, a, b), act, act_lo, act_hi);
  store4(y, at, mask_texel(v, column % quads, C));
}
