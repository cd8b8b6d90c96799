// y = act(x), one texel an item.
ALONE __kernel void eltwise_unary_texel(ACT_IN(x), ACT_OUT(y), int N, int H, int W, int C, int act,
                                        float act_lo, float act_hi) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= W * quads || line >= N * H) return;
  const texel_pos at = texel_at(column, line, W * quads);
  const float4 v = activate(to_float4(load4(x, at)), act, act_lo, act_hi);
  store4(y, at, mask_texel(v, column % quads, C));
}
