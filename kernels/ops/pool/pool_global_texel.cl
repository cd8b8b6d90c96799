// Largest value (kind 0) or mean (kind 1) of each channel over the image, 4 channels an item, one
// float sum a line.
ALONE __kernel void pool_global_texel(ACT_IN(x), ACT_OUT(y), int N, int H, int W, int C, int kind) {
  const int column = get_global_id(0);
  const int image = get_global_id(1);
  const int quads = (C + 3) / 4;
  if (column >= quads || image >= N) return;
  float4 sum = 0.0f, largest = -INFINITY;
  for (int line = image * H; line < (image + 1) * H; ++line) {
    float4 part = 0.0f;
    for (int ix = 0; ix < W; ++ix) {
      const float4 v = to_float4(load4(x, texel_at(ix * quads + column, line, W * quads)));
      part += v;
      largest = larger(largest, v);
    }
    sum += part;
  }
  const float4 v = kind == 0 ? largest : sum / (float)(H * W);
  store4(y, texel_at(column, image, quads), mask_texel(v, column, C));
}
