// y = the level of x under a scale and a zero point that an earlier kernel made; one texel an item.
ALONE __kernel void quantize_by_texel(BUFFER_IN(x), BUFFER_IN(scale), BUFFER_IN(zero), BUFFER_OUT(y),
                                      int texels, int C, int kind, float lo, float hi) {
  const int at = get_global_id(0);
  if (at >= texels) return;
  const float by = buffer_load4(scale, 0).s0, origin = buffer_load4(zero, 0).s0;
  const float4 v = quantized(to_float4(buffer_load4(x, at)), by, origin, lo, hi, kind);
  buffer_store4(y, at, mask_texel(v, at % ((C + 3) / 4), C));
}
