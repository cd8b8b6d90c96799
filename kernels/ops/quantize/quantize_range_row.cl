// y = the scale (code 0) or the zero point (code 1) of 256 levels from the lower to the higher of a
// row's two values, widened to hold 0; one row an item.
ALONE __kernel void quantize_range_row(BUFFER_IN(x), BUFFER_OUT(y), int M, int code) {
  const int row = get_global_id(0);
  if (row >= M) return;
  const float4 ends = to_float4(buffer_load4(x, row));
  const float none = 0.0f, high = ends.s0, low = ends.s1;
  const float top = larger(none, high), bottom = smaller(none, low);
  const float span = top - bottom;
  const float scale = span < 0x1p-100f ? 1.0f : span / 255.0f;
  const float v = code == 0 ? scale : rint(-bottom / scale);
  buffer_store4(y, row, (float4)(v, 0.0f, 0.0f, 0.0f));
}
