// y = the scale (code 0) or the zero point (code 1) of 256 levels from `low` to `high`, widened to
// hold 0; one texel an item.
__kernel void quantize_range_texel(BUFFER_IN(high), BUFFER_IN(low), BUFFER_OUT(y), int N, int H,
                                   int W, int C, int code) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= W * quads || line >= N * H) return;
  const int at = line * W * quads + column;
  const float4 none = (float4)(0.0f);
  const float4 highest = to_float4(buffer_load4(high, at));
  const float4 lowest = to_float4(buffer_load4(low, at));
  const float4 top = larger(none, highest), bottom = smaller(none, lowest);
  const float4 span = top - bottom;
  const float4 scale = span < 0x1p-100f ? (float4)(1.0f) : span / 255.0f;
  const float4 v = code == 0 ? scale : rint(-bottom / scale);
  buffer_store4(y, at, mask_texel(v, column % quads, C));
}
