// y = the level of x, or the number that it stands for; one texel an item.
ALONE __kernel void quantize_texel(ACT_IN(x), ACT_OUT(y), int W, int C, int kind, float scale, float zero,
                                   float lo, float hi) {
  const int column = get_global_id(0);
  const int quads = (C + 3) / 4;
  if (column >= W * quads) return;
  const texel_pos at = texel_at(column, get_global_id(1), W * quads);
  const float4 v = quantized(to_float4(load4(x, at)), scale, zero, lo, hi, kind);
  store4(y, at, mask_texel(v, column % quads, C));
}
