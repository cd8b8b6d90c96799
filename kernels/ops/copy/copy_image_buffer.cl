// Image to buffer, one texel an item.
ALONE __kernel void copy_image_buffer(ACT_IN(x), BUFFER_OUT(y), int N, int H, int W, int C) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int pitch = (C + 3) / 4 * W;
  if (column >= pitch || line >= N * H) return;
  buffer_store4(y, line * pitch + column, to_float4(load4(x, texel_at(column, line, pitch))));
}
