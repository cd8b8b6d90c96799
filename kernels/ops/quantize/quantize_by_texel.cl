// y = the level of x under a scale and a zero point that an earlier kernel made; one texel an item.
__kernel void quantize_by_texel(BUFFER_IN(x), BUFFER_IN(scale), BUFFER_IN(zero), BUFFER_OUT(y),
                                int N, int H, int W, int C, int kind, float lo, float hi) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= W * quads || line >= N * H) return;
  const float by = buffer_load4(scale, 0).s0, from_zero = buffer_load4(zero, 0).s0;
  const int at = line * W * quads + column;
  const float4 v = quantized(to_float4(buffer_load4(x, at)), by, from_zero, lo, hi, kind);
  buffer_store4(y, at, mask_texel(v, column % quads, C));
}
