// Buffer to image, one texel an item.
ALONE __kernel void copy_buffer_image(BUFFER_IN(x), ACT_OUT(y), int N, int H, int W, int C) {
  const int column = get_global_id(0);
  const int line = get_global_id(1);
  const int pitch = (C + 3) / 4 * W;
  if (column >= pitch || line >= N * H) return;
  store4(y, texel_at(column, line, pitch), to_float4(buffer_load4(x, line * pitch + column)));
}
