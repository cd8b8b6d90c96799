// y = act(x[0..F)) * x[F..2F) of each row, in float at every precision; one texel an item.
ALONE __kernel void glu_texel(ACT_IN(x), ACT_OUT(y), int lines, int W, int F, int act, float act_lo,
                              float act_hi) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = F / 4;
  if (column >= W * quads || line >= lines) return;
  const int gate = column / quads * 2 * quads + column % quads;
  const float4 a = to_float4(load4(x, texel_at(gate, line, W * 2 * quads)));
  const float4 b = to_float4(load4(x, texel_at(gate + quads, line, W * 2 * quads)));
  store4(y, texel_at(column, line, W * quads), activate(a, act, act_lo, act_hi) * b);
}
